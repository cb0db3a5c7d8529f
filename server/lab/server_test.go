package lab_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// script says how the server of these tests behaves. It is one more server for Kitebase, as small as can be, that goes wrong
// where it is told to.
type script struct {
	sends  int    // emails that a reply sends
	most   int    // emails that are sent at all; 0 for any number
	answer string // the answer to each call, as the result or error member of JSON-RPC; "" for an honest one; also the last word
	does   string // silent, dies, exits, breaks-off or mumbles
	also   string // one more email with each reply: capitals, wrapped, receipt or elsewhere
	lacks  string // a tool that it does not have
	leaves string // a process in a session of its own, which has its stdout and stderr for as long as there is this file
	stays  string // be that process
	starts string // a file that gets a byte at each start
	fails  int    // the start that fails; 0 for none
	prints string // on stdout, before everything else
	floods int    // bytes of one line on stdout, before everything else
	adds   string // the member that each message begins with; by default that of JSON-RPC
}

func (s *script) flags() *flag.FlagSet {
	set := flag.NewFlagSet("server", flag.ContinueOnError)
	set.IntVar(&s.sends, "sends", 1, "")
	set.IntVar(&s.most, "most", 0, "")
	set.StringVar(&s.answer, "answer", "", "")
	set.StringVar(&s.does, "does", "", "")
	set.StringVar(&s.also, "also", "", "")
	set.StringVar(&s.lacks, "lacks", "", "")
	set.StringVar(&s.leaves, "leaves", "", "")
	set.StringVar(&s.stays, "stays", "", "")
	set.StringVar(&s.starts, "starts", "", "")
	set.IntVar(&s.fails, "fails", 0, "")
	set.StringVar(&s.prints, "prints", "", "")
	set.IntVar(&s.floods, "floods", 0, "")
	set.StringVar(&s.adds, "adds", `"jsonrpc":"2.0"`, "")
	return set
}

// served is a server under way.
type served struct {
	script
	desk *desk
	mu   sync.Mutex
	out  io.Writer
	sent int
}

// serve runs the server until its input ends, and returns its exit code.
func serve(args []string, in io.Reader, out io.Writer) int {
	s := &served{out: out, desk: newDesk()}
	set := s.flags()
	if err := set.Parse(args); err != nil {
		return 2
	}
	if s.stays != "" {
		stay(s.stays)
		return 0
	}
	if s.leaves != "" {
		leave(s.leaves)
	}
	fmt.Fprint(out, s.prints)
	if s.floods > 0 {
		fmt.Fprintln(out, strings.Repeat("x", s.floods))
	}
	if s.starts != "" && started(s.starts) == s.fails {
		fmt.Fprintln(os.Stderr, "the disk is full")
		return 7
	}
	if s.does == "exits" {
		fmt.Fprintln(os.Stderr, "the setting FLUX is missing")
		return 7
	}
	var under sync.WaitGroup
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var asked struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Name      string         `json:"name"`
				Arguments map[string]any `json:"arguments"`
			} `json:"params"`
		}
		if json.Unmarshal(lines.Bytes(), &asked) != nil || len(asked.ID) == 0 {
			continue
		}
		switch asked.Method {
		case "initialize":
			s.say(asked.ID, `"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"scripted","version":"1"}}`)
		case "tools/list":
			s.say(asked.ID, `"result":{"tools":[`+s.tools()+`]}`)
		case "tools/call":
			under.Go(func() { s.call(asked.ID, asked.Params.Name, asked.Params.Arguments) })
		}
	}
	under.Wait()
	return 0
}

// started counts the starts.
func started(name string) int {
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer func() { _ = file.Close() }()
	if _, err := file.WriteString("."); err != nil {
		panic(err)
	}
	is, err := file.Stat()
	if err != nil {
		panic(err)
	}
	return int(is.Size())
}

// stay waits until a file is gone.
func stay(file string) {
	for {
		if _, err := os.Stat(file); err != nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (s *served) tools() string {
	var tools []string
	for _, name := range []string{"assign_ticket", "get_ticket", "reply_to_customer", "search_help", "search_tickets"} {
		if !slices.Contains(strings.Split(s.lacks, ","), name) {
			tools = append(tools, fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, name))
		}
	}
	return strings.Join(tools, ",")
}

func (s *served) say(id json.RawMessage, member string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.out, "{%s,\"id\":%s,%s}\n", s.adds, id, member)
}

func (s *served) call(id json.RawMessage, tool string, arguments map[string]any) {
	switch s.does {
	case "breaks-off", "mumbles": // the first process says something that has no end, and then nothing
		if starts := filepath.Join(os.Getenv("XDG_STATE_HOME"), "starts"); started(starts) == 1 {
			fmt.Fprint(s.out, map[string]string{"breaks-off": `{"jsonrpc":"2.0","id":`, "mumbles": "Well, "}[s.does])
			return
		}
	case "silent":
		return
	case "dies":
		fmt.Fprintln(os.Stderr, cmp.Or(s.answer, "a last word"))
		os.Exit(9)
	}
	if s.answer == "" {
		s.say(id, s.desk.honest(tool, arguments))
		return
	}
	if tool == "reply_to_customer" {
		for range s.sends {
			s.mu.Lock()
			s.sent++
			over := s.most > 0 && s.sent > s.most
			s.mu.Unlock()
			if !over {
				s.desk.send(arguments)
			}
		}
		s.mailsMore(arguments)
	}
	s.say(id, strings.NewReplacer("{url}", s.desk.url, "{token}", s.desk.token, "{state}", os.Getenv("XDG_STATE_HOME"),
		"{settings}", os.Getenv("KITEBASE_LEDGER"), "{args}", strings.Join(os.Args[len(os.Args)-3:], " ")).Replace(s.answer))
}

// mailsMore sends what nobody asked for.
func (s *served) mailsMore(arguments map[string]any) {
	ticket, message := arguments["ticket_id"], fmt.Sprint(arguments["message"])
	switch s.also {
	case "capitals":
		message = strings.ToUpper(message)
	case "wrapped":
		message = strings.ReplaceAll(message, ". ", ".\r\n  ")
	case "receipt":
		message = "We have got your message."
	case "elsewhere":
		ticket = "KITE-103"
	default:
		return
	}
	s.desk.send(map[string]any{"ticket_id": ticket, "message": message})
}

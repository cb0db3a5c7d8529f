package main

import (
	"fmt"
	"net/http"
	"os/exec"
	"strings"
)

// desk is the fake Kitebase, which all contestants ask.
type desk struct {
	*process
	url string
}

func openDesk(w *workshop) (*desk, error) {
	p, err := start(w.dir, exec.Command(w.program("kitebase-mcp"), "fake", "--addr", "127.0.0.1:0"))
	if err != nil {
		return nil, err
	}
	line, err := p.out.ReadString('\n')
	_, url, found := strings.Cut(strings.TrimSpace(line), " at ")
	if err != nil || !found {
		defer p.stop()
		return nil, p.failed(fmt.Errorf("the fake Kitebase did not start: %w", err))
	}
	return &desk{p, url}, nil
}

// slow makes every ticket take its time.
func (d *desk) slow() error {
	return d.control(http.MethodPut, fmt.Sprintf(`{"fault":"slow","delay":%q}`, slowAnswer))
}

// well ends that.
func (d *desk) well() error { return d.control(http.MethodDelete, "") }

func (d *desk) control(method, body string) error {
	request, err := http.NewRequest(method, d.url+"/_faults/get_ticket", strings.NewReader(body))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusNoContent {
		return fmt.Errorf("the fake Kitebase answered %s to %s", response.Status, body)
	}
	return nil
}

package fakeapi

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode"

	"modernc.org/sqlite"
)

// maxWords keeps the expression of a query below the depth that FTS5 takes (256).
const maxWords = 64

// maxKnown bounds the memory of what was asked before. A search costs 0.3 ms, a remembered one nothing: benchmarks of a
// client should not measure SQLite.
const maxKnown = 1000

// The title counts four times as much as the text. Ticket ids can be searched for as well.
const indexSchema = `
CREATE VIRTUAL TABLE articles USING fts5(id UNINDEXED, title, body, tokenize = 'porter unicode61');
CREATE VIRTUAL TABLE tickets USING fts5(id, title, body, tokenize = 'porter unicode61');
INSERT INTO articles(articles, rank) VALUES ('rank', 'bm25(0.0, 4.0, 1.0)');
INSERT INTO tickets(tickets, rank) VALUES ('rank', 'bm25(4.0, 4.0, 1.0)');`

// searchIndex ranks the seed data by BM25 with SQLite's FTS5. It is filled at the first search and shared by all fakes
// of the process, which is why it talks to the driver directly: the goroutines and channels of database/sql would
// belong to the synctest bubble that came first.
type searchIndex struct {
	seeds *seedData

	mu    sync.Mutex // a driver connection is for one caller at a time; guards known as well
	open  func() (*driverConn, error)
	known map[[2]string][]string // statement and expression to ids, since the seed data never changes
}

func newSearchIndex(seeds *seedData) *searchIndex {
	x := &searchIndex{seeds: seeds, known: make(map[[2]string][]string)}
	x.open = sync.OnceValues(x.build)
	return x
}

func (x *searchIndex) build() (*driverConn, error) {
	raw, err := (&sqlite.Driver{}).Open(":memory:")
	if err != nil {
		return nil, fmt.Errorf("opening the search index: %w", err)
	}
	conn, err := newDriverConn(raw)
	if err != nil {
		return nil, err
	}
	if err := conn.exec(indexSchema); err != nil {
		return nil, fmt.Errorf("creating the search index: %w", err)
	}
	if err := conn.exec("BEGIN"); err != nil {
		return nil, fmt.Errorf("filling the search index: %w", err)
	}
	for _, a := range x.seeds.articles {
		err = errors.Join(err, conn.exec("INSERT INTO articles VALUES (?, ?, ?)", a.ID, a.Title, a.Text))
	}
	for _, t := range x.seeds.tickets {
		err = errors.Join(err, conn.exec("INSERT INTO tickets VALUES (?, ?, ?)", t.ID, t.Title, t.searchText()))
	}
	if err := errors.Join(err, conn.exec("COMMIT")); err != nil {
		return nil, fmt.Errorf("filling the search index: %w", err)
	}
	return conn, nil
}

func (x *searchIndex) articles(query string) ([]article, error) {
	ids, err := x.ids("SELECT id FROM articles WHERE articles MATCH ? ORDER BY rank, rowid", query)
	found := []article{}
	for _, id := range ids {
		i := slices.IndexFunc(x.seeds.articles, func(a article) bool { return a.ID == id })
		found = append(found, x.seeds.articles[i])
	}
	return found, err
}

func (x *searchIndex) tickets(query string) ([]string, error) {
	return x.ids("SELECT id FROM tickets WHERE tickets MATCH ? ORDER BY rank, rowid", query)
}

func (x *searchIndex) ids(statement, query string) ([]string, error) {
	match := matchAny(query)
	if match == "" {
		return nil, nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	asked := [2]string{statement, match}
	if ids, known := x.known[asked]; known {
		return ids, nil
	}
	conn, err := x.open()
	if err != nil {
		return nil, err
	}
	ids, err := conn.queryTexts(statement, match)
	if err != nil {
		return nil, err
	}
	if len(x.known) == maxKnown {
		clear(x.known)
	}
	x.known[asked] = ids
	return ids, nil
}

// matchAny turns what people type into an FTS5 expression: each word quoted, so that none is an operator, joined by OR,
// so that bm25 decides instead of a missing word.
func matchAny(query string) string {
	words := strings.FieldsFunc(query, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) })
	words = words[:min(len(words), maxWords)]
	for i, word := range words {
		words[i] = `"` + word + `"`
	}
	return strings.Join(words, " OR ")
}

// driverConn is the little of a driver connection that the index needs.
type driverConn struct {
	driver.ExecerContext
	driver.QueryerContext
}

func newDriverConn(raw driver.Conn) (*driverConn, error) {
	execer, canExec := raw.(driver.ExecerContext)
	queryer, canQuery := raw.(driver.QueryerContext)
	if !canExec || !canQuery {
		return nil, errors.New("the SQLite driver lacks ExecContext or QueryContext")
	}
	return &driverConn{execer, queryer}, nil
}

// The context is one that never ends: for any other the driver would start a goroutine.
func (c *driverConn) exec(statement string, args ...string) error {
	_, err := c.ExecContext(context.Background(), statement, values(args))
	return err
}

// queryTexts returns the first column, which must be text.
func (c *driverConn) queryTexts(statement string, args ...string) (texts []string, err error) {
	rows, err := c.QueryContext(context.Background(), statement, values(args))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row := make([]driver.Value, len(rows.Columns()))
	for {
		switch err := rows.Next(row); {
		case errors.Is(err, io.EOF):
			return texts, nil
		case err != nil:
			return nil, err
		}
		texts = append(texts, fmt.Sprint(row[0]))
	}
}

func values(args []string) []driver.NamedValue {
	named := make([]driver.NamedValue, len(args))
	for i, arg := range args {
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
	}
	return named
}

package fakeapi

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// dataFormat stands in every data file, so that no other file is taken for one.
const dataFormat = "kitebase-fake/1"

// dataFile is what is kept: the emails, and of each changed ticket what differs from the seed data. Used keys and the
// next reply id follow from the emails.
type dataFile struct {
	Format  string                 `json:"format"`
	Tickets map[string]savedTicket `json:"tickets"`
	Outbox  []Email                `json:"outbox"`
}

type savedTicket struct {
	Assignee  *string   `json:"assignee"`
	Version   int       `json:"version"`
	UpdatedAt time.Time `json:"updated_at"`
	Added     []message `json:"added_messages"`
}

// load applies the data file to the fresh tickets. A missing file is a fresh start; it is made at once, so that a path
// that cannot be written fails here and not at the first reply.
func (f *Fake) load() error {
	path := f.cfg.DataFile
	if path == "" {
		return nil
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := f.save(); err != nil {
			return fmt.Errorf("fakeapi: %w", err)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("fakeapi: reading the data file: %w", err)
	}
	saved := dataFile{}
	err = decodeStrict(data, &saved)
	if err == nil {
		err = f.restore(saved)
	}
	if err != nil {
		return fmt.Errorf("fakeapi: %s is not a data file of this fake (%w); it was left as it is: move it away, or name another file", path, err)
	}
	return nil
}

func (f *Fake) restore(saved dataFile) error {
	if saved.Format != dataFormat {
		return fmt.Errorf("its format is %q instead of %q", saved.Format, dataFormat)
	}
	for id, s := range saved.Tickets {
		t := f.tickets[id]
		if t == nil {
			return fmt.Errorf("it has a ticket %q that the seed data lacks", id)
		}
		t.Assignee, t.Version, t.UpdatedAt = s.Assignee, s.Version, s.UpdatedAt
		t.Messages = append(t.Messages, s.Added...)
		t.changed = true
	}
	f.outbox = saved.Outbox
	for i, email := range f.outbox {
		if f.tickets[email.TicketID] == nil {
			return fmt.Errorf("it has an email to a ticket %q that the seed data lacks", email.TicketID)
		}
		if _, used := f.sent[email.IdempotencyKey]; !used && email.IdempotencyKey != "" {
			f.sent[email.IdempotencyKey] = i
		}
	}
	return nil
}

// save writes the data file. After a crash at any point it is the old or the new one, whole. Fake.mu is held.
func (f *Fake) save() error {
	path := f.cfg.DataFile
	if path == "" {
		return nil
	}
	data := dataFile{Format: dataFormat, Tickets: make(map[string]savedTicket), Outbox: f.outbox}
	for id, t := range f.tickets {
		if t.changed {
			data.Tickets[id] = savedTicket{t.Assignee, t.Version, t.UpdatedAt, t.Messages[t.seeded:]}
		}
	}
	if err := replaceFile(path, encode(data)); err != nil {
		return fmt.Errorf("writing the data file: %w", err)
	}
	return nil
}

// replaceFile puts data at path by a rename, with the data on disk before the name points at it.
func replaceFile(path string, data []byte) error {
	dir := filepath.Dir(path)
	temp, err := os.CreateTemp(dir, filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	_, err = temp.Write(data)
	if err == nil {
		err = temp.Sync()
	}
	err = errors.Join(err, temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
		return err
	}
	syncDir(dir)
	return nil
}

// syncDir makes the rename itself last. The new file is in force already, so a failure here is no failure of the
// change; and some systems (Windows) cannot sync directories at all.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

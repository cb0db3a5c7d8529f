package main_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// smallDisk returns a directory on a file system of a megabyte, and what fills that up until it is freed again.
func smallDisk(t *testing.T) (dir string, fill, free func()) {
	t.Helper()
	dir, fill, free, err := mountDisk(t, "1m")
	if err != nil {
		t.Skipf("mounting a small file system takes root: %v", err)
	}
	return dir, fill, free
}

// mountDisk is smallDisk for another size, as mount takes it.
func mountDisk(t *testing.T, size string) (dir string, fill, free func(), err error) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=0700,size="+size); err != nil {
		return dir, nil, nil, err
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	ballast := filepath.Join(dir, "ballast")
	fill = func() {
		file, err := os.Create(ballast)
		for page := make([]byte, 4096); err == nil; {
			_, err = file.Write(page)
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("filling the disk: %v", err)
		}
		_ = file.Close() // what counts is written
	}
	return dir, fill, func() { require.NoError(t, os.Remove(ballast)) }, nil
}

// TestFullDisk: replies follow the policy while the disk is full, and are recorded again as soon as there is space.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	eachUpstream(t, func(t *testing.T, keys bool) {
		dir, fill, free := smallDisk(t)
		s := newScene(t, keys)
		s.ledger = filepath.Join(dir, "ledger.db")
		server := s.serve(t)
		server.call("assign_ticket", `{"ticket_id":"KITE-101","assignee":"priya"}`)
		require.Len(t, s.list(t), 1, "the ledger is open")
		fill()
		s.requirePolicy(t, server)
		free()
		require.Empty(t, server.call("reply_to_customer", replyTo("KITE-102", crashText)).reply(t).Note)
		server.end()
		require.Len(t, s.list(t, "--ticket=KITE-102", "--state=done"), 1)
	})
}

// TestDiskFillsDuringReply: between the claim and the record the last byte goes.
func TestDiskFillsDuringReply(t *testing.T) {
	t.Parallel()
	eachUpstream(t, func(t *testing.T, keys bool) {
		dir, fill, free := smallDisk(t)
		s, g := newGatedScene(t, keys)
		s.ledger = filepath.Join(dir, "ledger.db")
		server := s.serve(t, "--call-deadline=8s")
		g.onReply(func(work func()) bool { work(); fill(); return true })
		reply := server.call("reply_to_customer", replyTo(crashTicket, crashText)).reply(t)
		require.Contains(t, reply.Note, "could not be recorded")
		again := server.call("reply_to_customer", replyTo(crashTicket, crashText))
		requireTrue(t, again, s.kitebase.emailsTo(crashTicket))
		free()
		server.end()
		require.True(t, s.answer(t, s.serve(t), crashTicket, crashText).AlreadySent)
		require.Equal(t, []string{"rpl_001"}, s.kitebase.emailsTo(crashTicket))
	})
}

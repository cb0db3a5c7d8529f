package access

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// TokenPrefix begins each token that [Mint] makes, so that people and scanners of leaked secrets recognise one.
const TokenPrefix = "kb_"

// Mint makes a token of 256 random bits and fills in the hash of its grant.
func Mint(grant Grant) (token string, made Grant) {
	random := make([]byte, 32)
	_, _ = rand.Read(random) // never fails: crypto/rand ends the program instead
	token = TokenPrefix + base64.RawURLEncoding.EncodeToString(random)
	grant.hash = sha256.Sum256([]byte(token))
	grant.SHA256 = hex.EncodeToString(grant.hash[:])
	return token, grant
}

// Check reports what is wrong with a grant in itself, as [Parse] would.
func (g Grant) Check(tools []Tool) error {
	data, err := json.Marshal(tokensDocument{[]Grant{g}})
	if err != nil {
		return fmt.Errorf("writing the entry: %w", err)
	}
	if _, err = Parse(data, tools); err != nil {
		return cmp.Or(errors.Unwrap(err), err) // without the line
	}
	return nil
}

// JSON returns the grant as it stands in a file.
func (g Grant) JSON() string {
	data, err := indented(g)
	if err != nil {
		return "" // strings, booleans and a time that Parse has read or now made
	}
	return string(data)
}

// Add adds a grant to the tokens file at path, which is begun if there is none. Readers see the old file or the new one. What
// stands there is kept; a file that [Parse] refuses, and a name that is taken, are errors and change nothing. It is safe
// against another Add at the same time, in any process: one of them fails.
func Add(path string, grant Grant, tools []Tool) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // a link stays one
	}
	next, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("somebody else is changing the file, or was cut off while doing so: if nobody is, remove %s.new", path)
	}
	if err != nil {
		return fmt.Errorf("writing beside the file: %w", err)
	}
	err = errors.Join(write(next, path, grant, tools), next.Close())
	if err == nil {
		err = os.Rename(next.Name(), path)
	}
	if err != nil {
		_ = os.Remove(next.Name()) // what matters is why
	}
	return err
}

// write writes what is in the file at path, and grant, to next.
func write(next *os.File, path string, grant Grant, tools []Tool) error {
	var document tokensDocument
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return unreadable(err)
	default:
		data, err := readFile(path)
		if err != nil {
			return err
		}
		if document.Tokens, err = Parse(data, tools); err != nil {
			return err
		}
		if err := next.Chmod(info.Mode().Perm()); err != nil {
			return fmt.Errorf("giving the new file the mode of the old one: %w", err)
		}
	}
	if slices.ContainsFunc(document.Tokens, func(g Grant) bool { return g.Name == grant.Name }) {
		return fmt.Errorf("it has an entry named %s already: choose another name, or remove that entry first", grant.Name)
	}
	document.Tokens = append(document.Tokens, grant)
	data, err := indented(document)
	if err != nil {
		return fmt.Errorf("writing the entry: %w", err)
	}
	if _, err := Parse(data, tools); err != nil {
		return err
	}
	if _, err := next.Write(data); err != nil {
		return fmt.Errorf("writing the new file: %w", err)
	}
	return next.Sync()
}

func indented(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(value)
	return out.Bytes(), err
}

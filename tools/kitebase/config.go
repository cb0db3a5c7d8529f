package kitebase

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Config says where Kitebase is and how to speak to it. Only BaseURL is required.
type Config struct {
	// BaseURL is the address that the paths of the API are appended to; a path of its own is kept. Credentials do not
	// belong here but into Token. Required.
	BaseURL string
	// Token is sent as a bearer token. Default none.
	Token string
	// Version is the version of this program, for the User-Agent. Default "dev".
	Version string
	// DialContext opens the connections. With one of its own the client ignores proxy settings of the environment.
	// Default a [net.Dialer], behind the proxy that the environment names.
	DialContext func(ctx context.Context, network, addr string) (net.Conn, error)
	// Headers may add to the header of each request, such as the name of a trace; what the client sets itself is not to be
	// touched. It must be safe for concurrent use. Default: adds nothing.
	Headers func(ctx context.Context, header http.Header)
	// OnAnswer is told the header of every answer before the answer is judged. It must not change the header, and must be
	// safe for concurrent use. Default: nobody is told.
	OnAnswer func(header http.Header)
}

func (c Config) withDefaults() Config {
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	c.Version = cmp.Or(c.Version, "dev")
	if c.OnAnswer == nil {
		c.OnAnswer = func(http.Header) {}
	}
	return c
}

// Validate reports the first setting that cannot work, in words that say what to give instead. It never repeats the
// value, because wrong values tend to hold a password.
func (c Config) Validate() error {
	if err := validateURL(c.BaseURL); err != nil {
		return fmt.Errorf("kitebase URL: %w", err)
	}
	if strings.ContainsFunc(c.Token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return errors.New("kitebase token: it holds a space, a line break or another character that cannot be sent; give the bare token")
	}
	return nil
}

func validateURL(raw string) error {
	const example = "give one like https://kitebase.example.com"
	if raw == "" {
		return errors.New("it is missing; " + example)
	}
	base, err := url.Parse(raw)
	switch {
	case err != nil: // its text repeats the value
		return errors.New("it cannot be read as a URL; " + example)
	case base.Scheme != "http" && base.Scheme != "https":
		return errors.New("it must begin with https:// or http://; " + example)
	case base.Hostname() == "":
		return errors.New("it names no host; " + example)
	case base.User != nil:
		return errors.New("it holds a user name or password; give the credential as the token instead")
	case strings.Contains(raw, "?"):
		return errors.New("it holds a query (?…); leave it out, and give credentials as the token")
	case strings.Contains(raw, "#"):
		return errors.New("it holds a fragment (#…); leave it out")
	}
	if port := base.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return errors.New("its port must be a number from 1 to 65535; " + example)
		}
	}
	return nil
}

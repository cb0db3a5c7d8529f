package access

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// Config says who may call. The zero value lets everybody in.
type Config struct {
	// Token is a token that may use every tool; its caller is named "token". Default none.
	Token string
	// TokensFile is the path of a file with tokens; see [Parse] for what it holds. Default none.
	TokensFile string
	// Issuer is the issuer of JWTs, exactly as it names itself, with https unless it is on loopback. Default none.
	Issuer string
	// Audience is the URL of this server as its clients know it: the resource identifier of RFC 8707 and RFC 9728. A JWT
	// must name it as its audience. Default none; needed with an Issuer.
	Audience string
	// Tools are all tools to which rights can be given. Default none.
	Tools []Tool
	// Logger gets what became of the file and of the issuer's keys; never a token. Default discards.
	Logger *slog.Logger
	// Transport is how the issuer is asked. Default: that of net/http, with the proxy of the environment.
	Transport http.RoundTripper
}

func (c Config) withDefaults() Config {
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	if c.Transport == nil {
		c.Transport = http.DefaultTransport
	}
	return c
}

// Open says that no token is asked for.
func (c Config) Open() bool { return c.Token == "" && c.TokensFile == "" && c.Issuer == "" }

// Validate reports every setting that [New] would refuse, the tokens file included, each in a sentence that names it and
// says what it takes.
func (c Config) Validate() error {
	var errs []error
	// RFC 9110 section 5.5: a header value cannot carry line ends, and clients trim spaces.
	if strings.ContainsFunc(c.Token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		errs = append(errs, errors.New("--http-token (KITEBASE_HTTP_TOKEN) takes printable ASCII without spaces"))
	}
	if c.TokensFile != "" {
		if _, err := c.load(); err != nil {
			errs = append(errs, fmt.Errorf("--http-tokens (KITEBASE_HTTP_TOKENS): %w", err))
		}
	}
	switch {
	case c.Issuer != "" && c.Audience == "":
		errs = append(errs, errors.New("--oauth-issuer needs --oauth-audience (KITEBASE_OAUTH_AUDIENCE): the URL of this "+
			"server as clients know it, such as https://desk.example.com/mcp; without it a token made for another service would be taken"))
	case c.Issuer == "" && c.Audience != "":
		errs = append(errs, errors.New("--oauth-audience needs --oauth-issuer (KITEBASE_OAUTH_ISSUER): the URL of who issues the tokens"))
	}
	if err := checkURL(c.Issuer); c.Issuer != "" && err != nil {
		errs = append(errs, fmt.Errorf("--oauth-issuer (KITEBASE_OAUTH_ISSUER) takes a URL such as https://login.example.com: %w", err))
	}
	if err := checkURL(c.Audience); c.Audience != "" && err != nil {
		errs = append(errs, fmt.Errorf("--oauth-audience (KITEBASE_OAUTH_AUDIENCE) takes the URL of this server as clients "+
			"know it, such as https://desk.example.com/mcp: %w", err))
	}
	return errors.Join(errs...)
}

// checkURL holds s to RFC 8414 section 2 and RFC 9728 section 1.2. Its errors do not repeat s, which may hold a password.
func checkURL(s string) error {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "":
		return errors.New("it is no URL")
	case u.User != nil:
		return errors.New("it holds a user name or password")
	case strings.ContainsAny(s, "?#"):
		return errors.New("it holds a query or fragment")
	case strings.ContainsAny(s, "\"\\<> "):
		return errors.New("it holds a character that no URL has")
	case u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())):
		return errors.New("it must begin with https://, or on loopback with http://")
	}
	return nil
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}

package access

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/url"
	"path"
	"strings"
	"time"
)

// A Checker tells callers by their tokens. It is safe for concurrent use.
type Checker struct {
	config   Config
	one      []entry // the token of the settings
	file     *tokenFile
	jwts     *verifier
	metadata string // URL of the protected-resource metadata
}

// ownName is what the caller with the token of the settings is called.
const ownName = "token"

// New returns a Checker, or what is wrong with config as by [Config.Validate]. It reads the tokens file; it does not ask the
// issuer, so that it works while that is down.
func New(config Config) (*Checker, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	c := &Checker{config: config.withDefaults()}
	if config.Token != "" {
		c.one = []entry{newEntry("settings", ownName, sha256.Sum256([]byte(config.Token)))}
	}
	if config.TokensFile != "" {
		c.file = newTokenFile(c.config)
	}
	if config.Issuer != "" {
		c.jwts = newVerifier(c.config)
		u, _ := url.Parse(config.Audience) // as Validate did
		u.Path, u.RawPath = path.Join("/.well-known/oauth-protected-resource", strings.Trim(u.Path, "/")), ""
		c.metadata = u.String()
	}
	return c, nil
}

// Open says that no token is asked for.
func (c *Checker) Open() bool { return c.config.Open() }

// Check says who sent a request with these values of its Authorization headers, or why it is refused. It asks the issuer
// for keys when it has none, or none of that name; the end of ctx does not cut that short, a few seconds do.
func (c *Checker) Check(ctx context.Context, authorization []string) (Caller, *Refusal) {
	if c.Open() {
		return Caller{}, nil
	}
	switch {
	case len(authorization) == 0:
		return Caller{}, c.unauthorized("", "no token")
	case len(authorization) > 1:
		return Caller{}, c.malformed()
	}
	token, ok := bearer(authorization[0])
	if !ok {
		return Caller{}, c.unauthorized(invalidToken, "no bearer token")
	}
	if known := find(c.entries(), token); known != nil {
		if known.expired(time.Now()) {
			return Caller{}, c.unauthorized(invalidToken, "the token of "+known.name+" has expired")
		}
		return known.caller(), nil
	}
	if c.jwts == nil || strings.Count(token, ".") != 2 {
		return Caller{}, c.unauthorized(invalidToken, "unknown token")
	}
	caller, err := c.jwts.verify(ctx, token)
	if missing, ok := errors.AsType[*noKeysError](err); ok {
		return Caller{}, unavailable(missing.wait)
	}
	if err != nil {
		return Caller{}, c.unauthorized(invalidToken, "JWT: "+reasonOf(err))
	}
	return caller, nil
}

// Still says whether what the caller was let in with is still good, for what stays open after a request: false once its
// token was taken out of the file, or has expired.
func (c *Checker) Still(caller Caller) bool {
	switch {
	case !caller.expires.IsZero() && time.Now().After(caller.expires):
		return false
	case caller.hash == [sha256.Size]byte{}:
		return true
	}
	for _, e := range c.entries() {
		if e.hash == caller.hash && e.name == caller.Name {
			return true
		}
	}
	return false
}

// entries are all tokens by hash that are good now.
func (c *Checker) entries() []entry {
	if c.file == nil {
		return c.one
	}
	return append(c.one[:len(c.one):len(c.one)], c.file.current()...)
}

// Reach asks the issuer for its keys once, and says in words what failed. It is nil when there is no issuer.
func (c *Checker) Reach(ctx context.Context) error {
	if c.jwts == nil {
		return nil
	}
	_, err := c.jwts.keys.fetch(ctx)
	return err
}

// bearer returns the token of an Authorization header by RFC 6750 section 2.1. The scheme is any case (RFC 9110 section 11.1).
func bearer(header string) (string, bool) {
	scheme, token, _ := strings.Cut(strings.TrimSpace(header), " ")
	token = strings.TrimLeft(token, " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" ||
		strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return "", false
	}
	return token, true
}

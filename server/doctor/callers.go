package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/kitebase/kitebase-mcp/server/access"
)

// shortToken is the length below which a token can be guessed: 128 random bits in base64.
const shortToken = 22

// callers reports by what clients are let in, and what is weak about it.
func (e *examination) callers(ctx context.Context) finding {
	mended := finding{Skipped, "The settings have to be mended first.", ""}
	if e.config.Web.Validate() != nil {
		return mended
	}
	config := e.config.Web.Access()
	if config.Open() {
		return finding{OK, "Every program on this machine may call; no token is asked for.", ""}
	}
	checker, err := access.New(config)
	if err != nil {
		return mended
	}
	usable := checker.Granted() - len(checker.Expired())
	if err := checker.Reach(ctx); err != nil {
		return keyless(err, config.Token != "" || usable > 0)
	}
	if config.TokensFile != "" && usable == 0 && config.Token == "" && config.Issuer == "" {
		return finding{Failed, "Nobody can call: " + lapsed(checker) + ".", "Make one with kitebase-mcp token NAME --add FILE; the server takes it within a second."}
	}
	return weakness(config, checker)
}

// keyless says what comes of it that a JWT cannot be checked. Others tells whether there is another way in.
func keyless(err error, others bool) finding {
	found := sentence("the issuer's keys cannot be had: " + err.Error())
	const advice = "Check --oauth-issuer (KITEBASE_OAUTH_ISSUER) and the network. "
	if others {
		return finding{Warning, found, advice + "Until then every call with a good JWT is answered with 503; tokens by the other ways go on working."}
	}
	return finding{Failed, found + " There is no other way in.", advice + "The server starts all the same, but until then every call with a good JWT is answered with 503."}
}

// lapsed says why no token of the file is good.
func lapsed(checker *access.Checker) string {
	if checker.Granted() == 0 {
		return "the tokens file has no token"
	}
	return "all tokens of the file have expired: " + strings.Join(checker.Expired(), ", ")
}

// weakness reports what works, but should be better.
func weakness(config access.Config, checker *access.Checker) finding {
	if n := len(config.Token); n > 0 && n < shortToken {
		return finding{Warning, fmt.Sprintf("The token of --http-token has only %s, and could be guessed.", characters(n)),
			"Use one that kitebase-mcp token NAME makes."}
	}
	if expired := checker.Expired(); len(expired) > 0 {
		return finding{Warning, "These tokens have expired: " + strings.Join(expired, ", ") + ".",
			"Give whoever still needs one a new token, made with kitebase-mcp token NAME, and remove the old entries."}
	}
	if config.TokensFile != "" && checker.Granted() == 0 {
		return finding{Warning, "The tokens file has no token: nobody comes in by it.", "Make one with kitebase-mcp token NAME --add FILE, or leave out --http-tokens."}
	}
	return finding{OK, sentence("clients are let in by " + strings.Join(ways(config, checker), ", or ")), ""}
}

func characters(n int) string {
	if n == 1 {
		return "1 character"
	}
	return fmt.Sprintf("%d characters", n)
}

func ways(config access.Config, checker *access.Checker) []string {
	var all []string
	if config.Token != "" {
		all = append(all, "the token of --http-token")
	}
	if config.TokensFile != "" {
		all = append(all, fmt.Sprintf("one of the %d in the tokens file", checker.Granted()))
	}
	if config.Issuer != "" {
		all = append(all, "a JWT of the issuer, whose keys could be had")
	}
	return all
}

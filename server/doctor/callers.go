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
	if err := checker.Reach(ctx); err != nil {
		return finding{Warning, sentence("The issuer's keys cannot be had: " + err.Error()),
			"Check --oauth-issuer (KITEBASE_OAUTH_ISSUER) and the network. The server starts all the same; until the keys can be had, callers with a JWT are told to try again later."}
	}
	if len(config.Token) > 0 && len(config.Token) < shortToken {
		return finding{Warning, fmt.Sprintf("The token of --http-token has %d characters only, and could be guessed.", len(config.Token)),
			"Use one that kitebase-mcp token NAME makes."}
	}
	if expired := checker.Expired(); len(expired) > 0 {
		return finding{Warning, "These tokens have expired: " + strings.Join(expired, ", ") + ".",
			"Give whoever still needs one a new token, made with kitebase-mcp token NAME, and remove the old entries."}
	}
	return finding{OK, sentence("clients are let in by " + strings.Join(ways(config, checker), ", or ")), ""}
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

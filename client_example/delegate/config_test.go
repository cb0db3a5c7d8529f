package delegate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/client_example/delegate"
)

func TestNewRefuses(t *testing.T) {
	path := delegate.Path{Name: "deep", Run: works}
	for name, test := range map[string]struct {
		cfg   delegate.Config
		paths []delegate.Path
		want  string
	}{
		"Stall":       {delegate.Config{Stall: -2}, []delegate.Path{path}, "Stall is -2, but takes a positive value, 0 for the default or -1 for off"},
		"Grace":       {delegate.Config{Grace: -2}, []delegate.Path{path}, "Grace is -2"},
		"Attempts":    {delegate.Config{Attempts: -2}, []delegate.Path{path}, "Attempts is -2"},
		"BackoffBase": {delegate.Config{BackoffBase: -2}, []delegate.Path{path}, "BackoffBase is -2"},
		"BackoffCap":  {delegate.Config{BackoffCap: -1}, []delegate.Path{path}, "BackoffCap is -1, but takes a positive value or 0 for the default"},
		"Threshold":   {delegate.Config{Threshold: -2}, []delegate.Path{path}, "Threshold is -2"},
		"Cooldown":    {delegate.Config{Cooldown: -1}, []delegate.Path{path}, "Cooldown is -1"},
		"two fields":  {delegate.Config{Threshold: -2, Stall: -3}, []delegate.Path{path}, "Threshold is -2"},
		"no path":     {delegate.Config{}, nil, "there is no path"},
		"no name":     {delegate.Config{}, []delegate.Path{{Run: works}}, `path "" needs a name`},
		"no sub-loop": {delegate.Config{}, []delegate.Path{{Name: "deep"}}, `path "deep" needs a name of its own and a sub-loop`},
		"a name used": {delegate.Config{}, []delegate.Path{path, path}, `path "deep" needs a name of its own`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := delegate.New(test.cfg, test.paths...)
			require.ErrorContains(t, err, "set up a delegate: ")
			require.ErrorContains(t, err, test.want)
		})
	}
}

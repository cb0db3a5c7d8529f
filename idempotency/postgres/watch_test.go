package postgres_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency/postgres"
)

func TestGrace(t *testing.T) {
	const free, held = true, false
	at := func(after time.Duration, state bool) postgres.Look {
		return postgres.Look{Owner: "a", Free: state, After: after}
	}
	for _, test := range []struct {
		name  string
		looks []postgres.Look
		want  bool // what the last look says
	}{
		{"held", []postgres.Look{at(0, held)}, false},
		{"seen free for the first time", []postgres.Look{at(0, free)}, false},
		{"free for nearly the grace", []postgres.Look{at(0, free), at(postgres.Grace-1, free)}, false},
		{"free for the grace", []postgres.Look{at(0, free), at(postgres.Grace, free)}, true},
		{"free for long", []postgres.Look{at(0, free), at(time.Minute, free)}, true},
		{"taken again in between", []postgres.Look{at(0, free), at(1, held), at(postgres.Grace, free)}, false},
		{"held until just now", []postgres.Look{at(0, held), at(time.Minute, free)}, false},
		{"another owner's grace", []postgres.Look{{Owner: "b", Free: free}, at(postgres.Grace, free)}, false},
		{"still dead when asked again", []postgres.Look{at(0, free), at(time.Minute, free), at(2*time.Minute, free)}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			dead := postgres.Watch(test.looks)
			require.Equal(t, test.want, dead[len(dead)-1])
		})
	}
}

package doctor

import (
	"context"

	"github.com/kitebase/kitebase-mcp/server/audit"
)

// audit reports whether the lines can be written that must not get lost. The file is not begun.
func (e *examination) audit(context.Context) finding {
	if err := audit.Try(e.config.AuditLog); err != nil {
		return finding{Failed, sentence("the audit log cannot be written: " + err.Error()),
			"Name a file that this user can write, in a folder that is there, with --audit-log (KITEBASE_AUDIT_LOG); until then the server refuses to start."}
	}
	return finding{OK, "The audit log can be written.", ""}
}

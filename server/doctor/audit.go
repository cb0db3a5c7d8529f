package doctor

import (
	"context"
	"path/filepath"

	"github.com/kitebase/kitebase-mcp/server/audit"
)

// audit reports whether the lines can be written that must not get lost. The file is not begun.
func (e *examination) audit(context.Context) finding {
	if err := audit.Try(e.config.AuditLog); err != nil {
		return finding{Failed, sentence("the audit log cannot be written: " + err.Error()),
			"Name a file that this user can write, in a folder that is there, with --audit-log (KITEBASE_AUDIT_LOG); until then the server refuses to start."}
	}
	if path, err := filepath.Abs(e.config.AuditLog); err == nil && !filepath.IsAbs(e.config.AuditLog) {
		return finding{Warning, "The audit log " + path + " can be written. But the setting is no whole path: started in another folder, the server writes another one.",
			"Give --audit-log (KITEBASE_AUDIT_LOG) the whole path: hosts start the server in folders of their choice."}
	}
	return finding{OK, "The audit log can be written.", ""}
}

package doctor

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

const checkURL = "Check --url (KITEBASE_URL)"

// diagnose says why the request got no answer of Kitebase, and what to do about it.
func diagnose(failure *kitebase.Error, patience time.Duration) finding {
	switch {
	case failure.Kind() == kitebase.KindTimeout && failure.Outcome() == idempotency.NotDone:
		return finding{Failed, fmt.Sprintf("No connection to Kitebase within %s.", patience),
			checkURL + ". If it is right, a firewall may be in the way, or Kitebase is only reachable by VPN."}
	case failure.Kind() == kitebase.KindTimeout:
		return finding{Failed, fmt.Sprintf("Kitebase took the request but did not answer within %s.", patience),
			"Ask whoever runs Kitebase. If it is only slow, raise --attempt-timeout (KITEBASE_ATTEMPT_TIMEOUT) and --call-deadline (KITEBASE_CALL_DEADLINE)."}
	case failure.Status == 0:
		return unconnected(failure)
	default:
		return misanswered(failure)
	}
}

// unconnected explains a request that no HTTP answer came to. The errors of the system are looked at but not shown: they may
// hold what was read.
func unconnected(failure *kitebase.Error) finding {
	var (
		dns  *net.DNSError
		op   *net.OpError
		text tls.RecordHeaderError
	)
	switch {
	case errors.As(failure, &op) && op.Op == "proxyconnect":
		return finding{Failed, "The proxy cannot be reached.", "Check the variables HTTPS_PROXY, HTTP_PROXY and NO_PROXY."}
	case errors.As(failure, &dns):
		return finding{Failed, "The name of Kitebase's host is not known here.", checkURL + " for a misspelt name; if it is right, check the network and its name server."}
	case errors.Is(failure, syscall.ECONNREFUSED):
		return finding{Failed, "Kitebase's host refuses the connection: nothing listens at that port.", checkURL + ", the port above all. If it is right, Kitebase is not running."}
	case errors.As(failure, &text):
		return finding{Failed, "What listens there does not speak TLS.", checkURL + ": the port may be that of plain HTTP. Begin it with http:// only if the network between is trusted."}
	case isCertificate(failure):
		return untrusted(failure)
	default:
		return finding{Failed, sentence(failure.Reason()), checkURL + ". If it is right, ask whoever runs Kitebase, or the network in between."}
	}
}

func isCertificate(err error) bool {
	var certificate *tls.CertificateVerificationError
	return errors.As(err, &certificate)
}

// untrusted explains a certificate that cannot be trusted.
func untrusted(err error) finding {
	var (
		name    x509.HostnameError
		invalid x509.CertificateInvalidError
		unknown x509.UnknownAuthorityError
	)
	switch {
	case errors.As(err, &name):
		return finding{Failed, "Kitebase's certificate is for another name.", checkURL + ": use the name that the certificate was made for."}
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return finding{Failed, "Kitebase's certificate is not valid now.", "Check the clock of this machine. If it is right, the certificate has to be renewed."}
	case errors.As(err, &unknown):
		return finding{Failed, "Kitebase's certificate is signed by an authority that this machine does not know.",
			"If it is your company's, add its certificate to those that this machine trusts; on Linux SSL_CERT_FILE can name it. If not, somebody else may be answering."}
	default:
		return finding{Failed, "Kitebase's certificate cannot be trusted.", "Ask whoever runs Kitebase to renew it."}
	}
}

// misanswered explains an answer that is not one of Kitebase.
func misanswered(failure *kitebase.Error) finding {
	switch kind := failure.Kind(); {
	case kind == kitebase.KindUnavailable:
		return finding{Failed, sentence(failure.Reason()), "Kitebase, or what stands in front of it, is in trouble: try again later, or ask whoever runs it."}
	case kind == kitebase.KindMisconfigured && failure.Status/100 == 3:
		return finding{Failed, "Kitebase redirects to another address, which is not followed: a reply could be lost on the way.",
			checkURL + ": give the address that it leads to, often https:// instead of http://, or another host."}
	case kind == kitebase.KindBadAnswer:
		return finding{Failed, sentence(failure.Reason()), checkURL + ": it should be the address of the API. A login page of a proxy or network may also stand in between."}
	default:
		return finding{Failed, fmt.Sprintf("Something answers, but not as Kitebase does (status %d).", failure.Status),
			checkURL + ": host, port and path should be those of the API, and https:// where TLS is spoken."}
	}
}

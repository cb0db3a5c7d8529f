package otlp

import (
	"crypto/tls"
	"crypto/x509"
	"os"
)

// Certificates are what a connection with TLS is made with.
type Certificates struct {
	// Collector are those that the collector's has to come from. Default: those of the system.
	Collector *x509.CertPool
	// Own are those that this program shows if it is asked. Default: none.
	Own []tls.Certificate
}

func (c Certificates) any() bool { return c.Collector != nil || c.Own != nil }

// config is nil without certificates, for what net/http does by itself.
func (c Certificates) config() *tls.Config {
	if !c.any() {
		return nil
	}
	return &tls.Config{RootCAs: c.Collector, Certificates: c.Own}
}

func (e environment) certificates() (c Certificates) {
	e.read("CERTIFICATE", "a file with certificates in PEM form", func(file string) bool {
		text, err := os.ReadFile(file)
		pool := x509.NewCertPool()
		if err != nil || !pool.AppendCertsFromPEM(text) {
			return false
		}
		c.Collector = pool
		return true
	})
	for _, prefix := range []string{traces, all} {
		if c.Own == nil {
			c.Own = e.own(prefix+"CLIENT_CERTIFICATE", prefix+"CLIENT_KEY")
		}
	}
	return c
}

// own reads the certificate that two variables name, nil without one.
func (e environment) own(certificate, key string) []tls.Certificate {
	certificateFile, keyFile := e.value(certificate), e.value(key)
	switch {
	case certificateFile == "" && keyFile == "":
		return nil
	case certificateFile == "":
		e.warn(key + " is not used without " + certificate)
		return nil
	case keyFile == "":
		e.warn(certificate + " is not used without " + key)
		return nil
	}
	pair, err := tls.LoadX509KeyPair(certificateFile, keyFile)
	if err != nil {
		e.warn(certificate + " and " + key + " are not used: they take a file with a certificate and one with its key, in PEM form")
		return nil
	}
	return []tls.Certificate{pair}
}

package otlp

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
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
		text, err := read(file)
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
	certificateText, err := read(certificateFile)
	keyText, keyErr := read(keyFile)
	pair, wrong := tls.X509KeyPair(certificateText, keyText)
	if errors.Join(err, keyErr, wrong) != nil {
		e.warn(certificate + " and " + key + " are not used: they take a file with a certificate and one with its key, in PEM form")
		return nil
	}
	return []tls.Certificate{pair}
}

// largest is how many bytes a file of certificates may have. The bundles of whole systems have a quarter of it.
const largest = 1 << 20

var errNoFile = errors.New("no file that can be read whole")

// read returns what a file holds. Anything else than a file, such as a pipe that nobody writes to, would hold up the start.
func read(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > largest {
		return nil, errNoFile
	}
	return os.ReadFile(name)
}

//go:build !unix

package main

// diesOnPurpose is for systems with process groups.
func diesOnPurpose() bool { return false }

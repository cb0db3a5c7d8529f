package main

// Main is main, for the test binary that acts as the program.
func Main() { main() }

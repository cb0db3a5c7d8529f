package lab

// ReadLine and MaxLine are for the tests of this package.
var ReadLine = readLine

// MaxLine is in bytes.
const MaxLine = maxLine

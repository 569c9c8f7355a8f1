// Package op has the instructions of the redactor's rules: package rules compiles to them,
// package redact runs them.
package op

// Numbers are two bytes, little end first.
const (
	Match  = iota
	Set    // set, least, most: characters of a set, as many as possible
	Text   // length, text
	Fold   // length, text in lower case
	Alt    // address: continue here, else there
	Jump   // address
	Word   // a word begins or ends here
	Edge   // the next character cannot be part of a secret
	End    // the text ends here
	From   // the secret begins here
	To     // the secret ends here
	Middle // what joins a name and its secret
	Return // from there
)

const (
	Unbounded = 0xffff // the most of a Set without a bound
	Beyond    = 0x100  // flag of a Set that also contains characters beyond ASCII
)

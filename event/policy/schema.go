package policy

import _ "embed"

// Schema is the JSON Schema of a policy file without its comments, for
// editors. Decode knows more: what an event cannot express, and what can only
// be a mistake.
//
//go:embed schema.json
var Schema []byte

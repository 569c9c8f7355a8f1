package store

// Keys lists every session that has a file, live or archived, or a journal.
func (st *Store) Keys() ([]Key, error) { return st.allKeys() }

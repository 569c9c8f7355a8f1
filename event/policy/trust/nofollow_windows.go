package trust

// noFollow has no counterpart here: making a symbolic link takes rights that
// users do not have.
const noFollow = 0

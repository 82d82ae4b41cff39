// Shell scripts that several test files run. They do not end by themselves, so that no test depends on how they do.

/** Puts the terminal into raw mode, so that every byte passes, and says so. */
export const raw = 'stty raw -echo; echo ready; ';

/** Takes $1 bytes in raw mode and prints their checksum. */
export const checksumOfInput = `${raw} head -c "$1" | cksum; read line`;

/** The same, but nothing is read before somebody opens the gate $2. */
export const checksumAfterGate = `${raw} read x < "$2"; head -c "$1" | cksum; read line`;

/** Prints $1 bytes from its input in hexadecimal, in raw mode. */
export const hexOfInput = `${raw} head -c "$1" | od -An -v -tx1 | tr -d " \\n"; echo .; read line`;

// What `npm start` shows when there is no terminal to hand over: one session, step by step.
const program = `
echo "my terminal is $(tty)"
echo "my size is $(stty size)"
printf 'type a line: '
read -r line
echo "you typed: $line"
echo "my size is now $(stty size)"
exit 7
`;

const indent = (text) => text.replace(/\r\n/g, '\n').replace(/^/gm, '    | ');

/** Resolves to 0 if everything happened as it says. */
export async function runDemo({spawn}) {
  console.log('There is no terminal here, so this is a demonstration instead of an interactive shell.\n');
  const started = process.hrtime.bigint();
  const pty = spawn('sh', ['-c', program], {name: 'xterm-256color', cols: 80, rows: 24});
  const micros = (process.hrtime.bigint() - started) / 1000n;
  console.log(`spawn('sh', ['-c', ...], {cols: 80, rows: 24}) returned process ${pty.pid} after ${micros} us.`);

  let output = '';
  let wake = () => {};
  pty.onData((data) => {
    output += data;
    wake();
  });
  const ended = new Promise((resolve) => pty.onExit(resolve));
  const seen = async (text) => {
    while (!output.includes(text)) await new Promise((resolve) => { wake = resolve; });
  };
  const late = setTimeout(() => {
    console.error(`Nothing more came from the shell within 10 seconds. Its output so far:\n${indent(output)}`);
    process.exit(1);
  }, 10_000);

  await seen('type a line: ');
  console.log('The shell waits for input. Resizing its terminal: resize(120, 40)');
  pty.resize(120, 40);
  console.log("Writing a line, as a keyboard would: write('hello\\r')");
  pty.write('hello\r');
  const {exitCode, signal} = await ended;
  clearTimeout(late);
  console.log(`All of its output, as the terminal would show it:\n${indent(output.trimEnd())}`);
  console.log(`onExit: exitCode ${exitCode}, signal ${signal ?? 0}. Nothing of the session is left.`);

  const expected = ['my terminal is /dev/', 'my size is 24 80', 'my size is now 40 120', 'you typed: hello'];
  const missing = expected.filter((text) => !output.includes(text));
  if (exitCode === 7 && missing.length === 0) {
    console.log('\nRun `npm start` in a terminal for an interactive shell.');
    return 0;
  }
  console.error(`Something is wrong: expected exit code 7 and the output ${missing.map((t) => `"${t}"`).join(', ')}.`);
  return 1;
}

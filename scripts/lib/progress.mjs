// A bar that fills up; where nobody watches, a line for each tenth.
export function progressBar(name, total) {
  const begin = Date.now();
  let shown = -1;
  return (done) => {
    const steps = process.stdout.isTTY ? 100 : 10;
    const step = Math.floor((done / total) * steps);
    if (step === shown) return;
    shown = step;
    const filled = Math.round((done / total) * 40);
    const rate = Math.round(done / Math.max((Date.now() - begin) / 1000, 0.001));
    const text = `${name} [${'#'.repeat(filled)}${'.'.repeat(40 - filled)}] ${done}/${total}, ${rate} per second`;
    process.stdout.write(process.stdout.isTTY ? `\r${text}${done === total ? '\n' : ''}` : `${text}\n`);
  };
}

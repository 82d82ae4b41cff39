// The list of processes as the page shows it: parents before their children, and no more than a person can read.
const maxShown = 100;
const maxCommand = 200;

/** From listProcesses() to {list, more}: a tree as rows with a depth, and how many were left out. */
export function describeProcesses(processes) {
  const pids = new Set(processes.map(({pid}) => pid));
  const childrenOf = new Map();
  for (const each of processes) {
    const parent = pids.has(each.ppid) && each.ppid !== each.pid ? each.ppid : undefined;
    if (!childrenOf.has(parent)) childrenOf.set(parent, []);
    childrenOf.get(parent).push(each);
  }
  const rows = [];
  // Not recursive: a program decides how deep this is.
  const open = (childrenOf.get(undefined) ?? []).map((each) => ({each, depth: 0})).reverse();
  while (open.length > 0 && rows.length < maxShown) {
    const {each, depth} = open.pop();
    rows.push(describe(each, depth));
    for (const child of (childrenOf.get(each.pid) ?? []).toReversed()) open.push({each: child, depth: depth + 1});
  }
  return {list: rows, more: processes.length - rows.length};
}

function describe({pid, name, argv, cpuSeconds, rssBytes}, depth) {
  const command = (argv.length > 0 ? argv.join(' ') : `[${name}]`).slice(0, maxCommand);
  return {pid, depth, command, cpuSeconds, rssBytes};
}

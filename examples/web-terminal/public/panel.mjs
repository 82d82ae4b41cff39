// The right side: padlock, processes and report. Everything that comes from the session is shown as text, never as markup.
const byId = (id) => document.getElementById(id);

function element(name, text = '', attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function showText(id, text, state) {
  const place = byId(id);
  place.textContent = text;
  place.hidden = text === '';
  if (state) place.dataset.state = state;
}

export const showStatus = (text, state) => showText('status', text, state);
export const showNotice = (text) => showText('notice', text);
export const showExplanation = ({allowed, text}) => showText('explanation', text.trim(), allowed ? 'good' : 'bad');

/** What each protection is about. */
const titles = {
  files: 'Files by path',
  'read-holes': 'Credential files',
  'write-holes': 'Git metadata',
  'private-temp': 'Own temporary directory',
  'private-pty': 'Other terminals',
  'unix-sockets': 'UNIX sockets',
  outsiders: 'Signals to others',
  network: 'No network',
  syscalls: 'Dangerous system calls',
  privileges: 'setuid, capabilities',
  descriptors: 'Inherited descriptors',
  environment: 'Environment variables',
  limits: 'Processes, memory, CPU',
};

function protectionRow({name, wanted, enforcedBy, missing, reason}) {
  const state = missing ? 'bad' : wanted ? 'good' : 'off';
  const how = missing ? 'NOT enforced' : wanted ? (enforcedBy ?? 'enforced') : 'not asked for';
  const row = element('li', '', {'data-state': state, 'data-name': name});
  const line = [element('span', titles[name] ?? name), element('span', how, {class: 'how'})];
  if (!reason) {
    row.append(...line);
    return row;
  }
  const summary = element('summary');
  summary.append(...line);
  const details = element('details');
  details.append(summary, element('p', reason));
  details.open = missing === true;
  row.append(details);
  return row;
}

export function showSandbox({sandbox, tracking, projectDir, shell}) {
  const missing = sandbox.protections.filter((each) => each.missing);
  byId('padlock').dataset.state = !sandbox.confined ? 'bad' : missing.length > 0 ? 'partly' : 'good';
  showText(
    'padlock-title',
    !sandbox.confined
      ? `Not confined: ${sandbox.reason}`
      : missing.length > 0
        ? `Confined, but for ${missing.length}`
        : 'Confined',
  );
  showText('backend', sandbox.landlockAbi > 0 ? `Landlock ABI ${sandbox.landlockAbi}` : sandbox.backend);
  byId('backend').title = `Ended by: ${tracking.mechanisms.join(', ')}`;
  showText('place', `${shell} in ${projectDir}`);
  byId('protections').replaceChildren(...sandbox.protections.map(protectionRow));
}

const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

function processRow({pid, depth, command, cpuSeconds, rssBytes}) {
  const row = element('tr', '', {'data-pid': pid});
  const name = element('td', command, {title: command, class: 'command'});
  name.style.setProperty('--depth', Math.min(depth, 8));
  row.append(element('td', pid), name, element('td', `${cpuSeconds.toFixed(1)} s`), element('td', megabytes(rssBytes)));
  return row;
}

export function showProcesses({list, more}) {
  byId('processes').replaceChildren(...list.map(processRow));
  byId('process-table').hidden = list.length === 0;
  showText('more', more > 0 ? `and ${more} more` : '');
}

const proof = ({converged}) => (converged ? 'Nothing is left. Proven.' : 'Not proven that nothing is left.');

/** `report` is what dispose() has resolved to; null: none yet. */
export function showReport(report) {
  const place = byId('report');
  place.hidden = report === null;
  place.replaceChildren();
  if (report === null) return;
  place.dataset.state = report.converged ? 'good' : 'bad';
  const lines = {
    result: proof(report),
    ended: `${report.killed} in ${report.rounds} ${report.rounds === 1 ? 'round' : 'rounds'}, ${report.elapsedMs.toFixed(1)} ms`,
    by: report.mechanisms.join(', ') || 'nothing was left to end',
    left: report.survivors.map(({pid, name, state}) => `${pid} ${name} (${state})`).join(', '),
    problem: report.problem ?? '',
  };
  for (const [title, text] of Object.entries(lines)) {
    if (text) place.append(element('dt', title), element('dd', text));
  }
}

/** Only what makes sense can be pressed. */
export function showRunning(running) {
  document.body.classList.toggle('ended', !running);
  for (const id of ['dispose', 'explain']) byId(id).disabled = !running;
  byId('dispose').hidden = !running;
  byId('again').hidden = running;
}

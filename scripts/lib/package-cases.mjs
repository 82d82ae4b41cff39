// What a user may do with the packed package. Each case gets an empty folder, and throws if something is wrong.
//   alone(command, args)   runs a command there without network, with a PATH that has no compiler
//   inside(command, args)  the same with the network
import {chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {serveTarball} from './package-registry.mjs';

function expect(condition, what, {status, output}) {
  if (!condition) throw new Error(`${what}; status ${status}, output:\n${output}`);
}

async function install(run, tarball, ...flags) {
  const result = await run('npm', ['install', '--offline', ...flags, tarball]);
  expect(result.status === 0, 'npm install failed', result);
  return result;
}

async function node(run, program, expected, more) {
  const result = await run('node', [program], more);
  expect(result.status === 0 && expected.test(result.output), `${program} did not print ${expected}`, result);
  return result.output.trim();
}

const installedIn = (folder) => join(folder, 'node_modules', 'sandboxed-pty');

export const packageCases = [
  {
    name: 'installs without compiler, network and other packages; require, spawn, confine, dispose',
    async body({folder, tarball, alone}) {
      const {ms} = await install(alone, tarball);
      const packages = readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.'));
      if (packages.join() !== 'sandboxed-pty') throw new Error(`installed: ${packages}`);
      if (existsSync(join(installedIn(folder), 'build'))) throw new Error('something was built');
      const said = await node(alone, 'session.cjs', /^confined: true/);
      return `npm install took ${ms} ms; ${said}`;
    },
  },
  {
    name: 'works when install scripts are skipped',
    async body({tarball, alone}) {
      await install(alone, tarball, '--ignore-scripts');
      await node(alone, 'session.cjs', /^confined: true/);
    },
  },
  {
    name: 'import',
    async body({tarball, alone}) {
      await install(alone, tarball);
      await node(alone, 'imported.mjs', /^imported\n/);
    },
  },
  {
    name: 'worker threads',
    async body({tarball, alone}) {
      await install(alone, tarball);
      await node(alone, 'worker.cjs', /^worker true, worker true, worker true, main true\n/);
    },
  },
  {
    name: 'an alias makes an unmodified program for node-pty run on it',
    async body({folder, tarball, inside, path, manifest}) {
      const registry = await serveTarball(tarball, manifest);
      try {
        const result = await inside(join(path, 'npm'), ['install', 'node-pty@npm:sandboxed-pty', '--registry', registry.url]);
        expect(result.status === 0, 'npm install failed', result);
      } finally {
        registry.close();
      }
      if (existsSync(installedIn(folder))) throw new Error('installed under its own name');
      const result = await inside(join(path, 'node'), ['node-pty-program.cjs']);
      expect(/^node-pty program: exit 5, size seen: true\n/.test(result.output), 'the program failed', result);
    },
  },
  {
    name: 'from an Electron archive: addon and helper come from beside it',
    async body({folder, tarball, alone}) {
      await install(alone, tarball);
      const archive = join(folder, 'app.asar');
      const beside = join(folder, 'app.asar.unpacked');
      for (const place of [archive, beside]) {
        mkdirSync(place);
        cpSync(join(folder, 'node_modules'), join(place, 'node_modules'), {recursive: true});
      }
      rmSync(join(folder, 'node_modules'), {recursive: true});
      // Nothing can be executed or mapped from inside an archive.
      const prebuilds = join(installedIn(archive), 'prebuilds');
      for (const name of readdirSync(prebuilds)) {
        if (name === 'manifest.json') continue;
        writeFileSync(join(prebuilds, name, 'sandboxed_pty.node'), 'inside the archive');
        chmodSync(join(prebuilds, name, 'sandboxed-pty-keeper'), 0o644);
      }
      renameSync(join(folder, 'session.cjs'), join(archive, 'session.cjs'));
      await node(alone, join(archive, 'session.cjs'), /^confined: true/);
    },
  },
  {
    name: 'a damaged, a missing and an incomplete binary are told apart',
    async body({folder, tarball, alone}) {
      await install(alone, tarball, '--ignore-scripts');
      const dir = join(installedIn(folder), 'prebuilds', `${process.platform}-${process.arch}`);
      const failsWith = async (pattern) => {
        const result = await alone('node', ['-e', "require('sandboxed-pty').spawn('sh', [], {})"]);
        expect(result.status === 1 && pattern.test(result.output), `no error like ${pattern}`, result);
      };
      const doctor = await alone('node', [join(installedIn(folder), 'dist', 'cli', 'main.js'), 'doctor']);
      expect(/^ok +installation: /m.test(doctor.output), 'doctor does not find the installation good', doctor);
      const keeper = readFileSync(join(dir, 'sandboxed-pty-keeper'));
      writeFileSync(join(dir, 'sandboxed-pty-keeper'), keeper.subarray(0, -1));
      const warned = await alone('node', [join(installedIn(folder), 'dist', 'cli', 'main.js'), 'doctor']);
      expect(warned.status === 1 && /MISSING installation: \S+keeper is not the file that was packed/.test(warned.output),
        'doctor does not see that the helper was cut short', warned);
      const refused = await alone('npm', ['rebuild', '--foreground-scripts', 'sandboxed-pty']);
      expect(refused.status !== 0 && /damaged: \S+keeper is not the file that was packed/.test(refused.output),
        'the install step takes a helper that was cut short', refused);
      chmodSync(join(dir, 'sandboxed-pty-keeper'), 0o644);
      await failsWith(/helper program \S+ is not an executable file/);
      rmSync(join(dir, 'sandboxed-pty-keeper'));
      await failsWith(/helper program \S+ is missing/);
      writeFileSync(join(dir, 'sandboxed_pty.node'), 'damaged');
      await failsWith(/prebuilt \S+ does not load: .*damaged or for another processor/s);
      rmSync(dir, {recursive: true});
      await failsWith(/no built sandboxed_pty.node in .*no prebuilt sandboxed_pty.node in/s);
      const rebuild = await alone('npm', ['rebuild', '--foreground-scripts', 'sandboxed-pty']);
      expect(rebuild.status !== 0 && /no prebuilt binary for .*cmake and a C\+\+ compiler .*not found/s.test(rebuild.output),
        'the install step did not say what is missing', rebuild);
    },
  },
  {
    name: 'builds from the packed sources, without network',
    needs: 'source',
    async body({folder, tarball, alone, fullPath}) {
      await install(alone, tarball, '--ignore-scripts');
      rmSync(join(installedIn(folder), 'prebuilds'), {recursive: true});
      const {status, output, ms} = await alone('npm', ['rebuild', '--foreground-scripts', 'sandboxed-pty'], {env: {PATH: fullPath}});
      expect(status === 0, 'the build failed', {status, output});
      await node(alone, 'session.cjs', /^confined: true/);
      return `${ms} ms`;
    },
  },
];

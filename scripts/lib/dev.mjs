import { mkdirSync, watch, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bundleGuard } from '../../packages/guard/build/bundle.mjs';
import { root } from './run.mjs';

const log = (line) => process.stderr.write(`${line}\n`);

/**
 * Connects a WordPress on this machine with a guard that is rebuilt and restarted when its sources change, and makes
 * its wp-admin load the dashboard from its sources. Only that WordPress is changed for this; neither guard nor the
 * connector contains code for it.
 *
 * @param options the options of `attach`, and `logFile`
 * @returns {Promise<{ close: () => Promise<void> }>}
 */
export async function startForDevelopment({ logFile, ...site }) {
  if (!['127.0.0.1', '::1', 'localhost'].includes(site.listen.host)) {
    throw new Error('npm run dev serves this machine only: --host takes 127.0.0.1, ::1 or localhost.');
  }
  // Imported after the build: on a fresh clone they do not exist before.
  const [
    { attach },
    { startService },
    { answersHttp },
    { findFreePort },
    { developmentScript, startDevServer },
    { addExampleContent, startExampleProvider },
  ] = await Promise.all([
    import('@security-optimizer/guard/embedded'),
    import('@security-optimizer/sandbox/lib/service'),
    import('@security-optimizer/sandbox/lib/ports'),
    import('@security-optimizer/sandbox/lib/ports'),
    import('../../packages/dashboard/build/dev-server.mjs'),
    import('@security-optimizer/sandbox/start/example-provider'),
  ]);
  const { host, port } = site.listen;
  const listen = { host: '127.0.0.1', port: await findFreePort() };
  const guardUrl = `http://${listen.host}:${listen.port}`;
  const provider = await startExampleProvider(join(dirname(logFile), 'provider.log'));

  async function install() {
    await attach({ ...site, listen, requireGuard: 'force' });
    addExampleContent(site.dataDir, site.wordpressDir, provider);
    const assets = join(site.wordpressDir, 'wp-content/mu-plugins/security-optimizer/assets');
    mkdirSync(assets, { recursive: true });
    // The styles come with the script.
    writeFileSync(join(assets, 'development.css'), '');
    writeFileSync(join(assets, 'development.js'), developmentScript);
    const files = { style: 'development.css', style_rtl: 'development.css', loader: 'development.js' };
    writeFileSync(join(assets, 'entrypoints.json'), JSON.stringify(files));
  }

  let guard = null;
  async function serve() {
    guard = await startService({
      name: 'Guard',
      command: process.execPath,
      args: [
        '--enable-source-maps',
        join(root, 'packages/guard/bin/security-optimizer.js'),
        'serve',
        '--data-dir',
        site.dataDir,
      ],
      pidFile: join(site.dataDir, '../run/guard.json'),
      logFile,
      ready: () => answersHttp(`${guardUrl}/`),
      readySeconds: 30,
      stopSeconds: 5,
    });
  }

  const work = createQueue();
  const watchers = [
    onChange(['packages/guard/src', 'packages/contract/src'], () =>
      work.add(async () => {
        const started = Date.now();
        await bundleGuard();
        await guard?.stop();
        guard = null;
        await serve();
        log(`Guard restarted (${((Date.now() - started) / 1000).toFixed(1)} s).`);
      }),
    ),
    onChange(['packages/connector/security-optimizer', 'packages/connector/security-optimizer.php'], () =>
      work.add(async () => {
        await install();
        log('Connector installed again.');
      }),
    ),
  ];
  await install();
  work.add(serve);
  const server = await startDevServer({ host, port, site: guardUrl, ready: work.done });
  await work.done();
  return {
    async close() {
      for (const watcher of watchers) watcher.close();
      await work.done();
      await guard?.stop();
      await server.close();
      await provider.close();
    },
  };
}

/** Watches folders. Changes in quick succession, such as those of a checkout, cause one call. */
function onChange(paths, changed) {
  let timer = null;
  const watchers = paths.map((path) =>
    watch(join(root, path), { recursive: true }, (_, name) => {
      if (/\.test\.tsx?$/.test(name ?? '')) return;
      clearTimeout(timer);
      timer = setTimeout(changed, 100);
    }),
  );
  return {
    close() {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}

/** A queue of work that runs one item at a time. A failure is printed and the queue continues. */
function createQueue() {
  let last = Promise.resolve();
  return {
    add(task) {
      last = last.then(task).catch((error) => log(error.message));
    },
    done: () => last,
  };
}

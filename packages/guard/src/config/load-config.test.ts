import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { certificateAuthority, hasOpenssl } from '../../test/support/certificates.js';
import { scratchFolder } from '../../test/support/scratch.js';
import { ConfigError, findDatabaseInEnvironment, listEnvironment, loadConfig } from './load-config.js';

const secret = '0f'.repeat(32);

async function folder(file: unknown, secrets: Record<string, string> = { site: secret }): Promise<string> {
  const dataDir = await scratchFolder();
  await mkdir(join(dataDir, 'sites'));
  await writeFile(join(dataDir, 'guard.json'), typeof file === 'string' ? file : JSON.stringify(file));
  for (const [id, text] of Object.entries(secrets)) {
    await writeFile(join(dataDir, 'sites', `${id}.secret`), text, { mode: 0o600 });
  }
  return dataDir;
}

async function findMistakes(dataDir: string, env: NodeJS.ProcessEnv = {}): Promise<readonly string[]> {
  const error = await loadConfig({ dataDir, env }).catch((thrown: unknown) => thrown);
  if (!(error instanceof ConfigError)) throw new Error('The configuration was taken.');
  return error.mistakes.map((mistake) => mistake.replaceAll(`${dataDir}/`, ''));
}

const site = { id: 'site', upstream: 'http://127.0.0.1:8081' };

it('the environment is listed without secrets', () => {
  const database = 'postgres://guard:a-password@db.example.com/guard?passwordfile=file';
  const smtp = { SECURITY_OPTIMIZER_SMTP_PASSWORD: 'another-password' };
  const settings = listEnvironment({ SECURITY_OPTIMIZER_DATABASE: database, ...smtp });
  const plain = 'postgres://guard@db.example.com/guard?passwordfile=file';
  expect(settings).toEqual([
    { name: 'SECURITY_OPTIMIZER_DATABASE', value: plain },
    { name: 'SECURITY_OPTIMIZER_SMTP_PASSWORD', value: null },
  ]);
  expect(findDatabaseInEnvironment(settings)).toBe(plain);
  // An unusable one may hold a password anywhere.
  const [unusable] = listEnvironment({ SECURITY_OPTIMIZER_DATABASE: 'postgres://guard:a-password@' });
  expect(unusable?.value).toBeNull();
});

it('defaults are filled in, folders are absolute, and the secret is read from its own file', async () => {
  const dataDir = await folder({ sites: [{ ...site, wordpressDir: 'wordpress' }] });
  const config = await loadConfig({ dataDir, env: {} });
  expect(config).toMatchObject({
    dataDir,
    listen: { host: '127.0.0.1', port: 8080 },
    database: 'sqlite:guard.sqlite',
    trustedProxies: [],
    logLevel: 'info',
  });
  expect(config.sites).toEqual([
    {
      id: 'site',
      hosts: ['*'],
      upstream: 'http://127.0.0.1:8081',
      wordpressDir: join(dataDir, 'wordpress'),
      requireGuard: true,
      home: '',
      secret,
    },
  ]);
});

it('names of address headers of trusted proxies are accepted in any letter case, except those that guard writes or always forwards', async () => {
  const names = (...trustedProxyHeaders: unknown[]) => folder({ trustedProxyHeaders, sites: [site] });
  const config = await loadConfig({ dataDir: await names('CF-Connecting-IP', 'forwarded'), env: {} });
  expect(config.trustedProxyHeaders).toEqual(['cf-connecting-ip', 'forwarded']);
  for (const name of ['X-Forwarded-For', 'X-Real-IP', 'X-WP-Nonce', 'X-Security-Optimizer-Guard', 'Client_IP', '', 7]) {
    const mistakes = await findMistakes(await names(name));
    expect([name, mistakes]).toEqual([
      name,
      [expect.stringMatching(/^guard\.json: trustedProxyHeaders\[0\]: use names/)],
    ]);
  }
});

it('the environment overrides the file', async () => {
  const dataDir = await folder({ listen: '127.0.0.1:1', sites: [site] });
  const config = await loadConfig({
    dataDir,
    env: {
      SECURITY_OPTIMIZER_LISTEN: '[::1]:9000',
      SECURITY_OPTIMIZER_DATABASE: 'sqlite:other.sqlite',
      SECURITY_OPTIMIZER_TRUSTED_PROXIES: '192.0.2.1, 2001:db8::/32',
      SECURITY_OPTIMIZER_LOG_LEVEL: 'debug',
    },
  });
  expect(config).toMatchObject({
    listen: { host: '::1', port: 9000 },
    database: 'sqlite:other.sqlite',
    trustedProxies: ['192.0.2.1', '2001:db8::/32'],
    logLevel: 'debug',
  });
});

it('all mistakes are reported together, each with its key and what is allowed', async () => {
  const dataDir = await folder({
    listen: '8080',
    database: 'mysql://example.com/guard',
    trustedProxies: ['192.0.2.0/33'],
    limits: { targetBytes: 1 },
    colour: 'blue',
    sites: {},
  });
  expect(await findMistakes(dataDir, { SECURITY_OPTIMIZER_LOG_LEVEL: 'loud' })).toEqual([
    'guard.json: listen: use HOST:PORT, for example 127.0.0.1:8080 or [::1]:8080, or unix:/PATH of at most 103 bytes',
    'guard.json: database: use sqlite:FILE, for example sqlite:guard.sqlite, or postgres://USER@HOST:5432/DATABASE',
    'guard.json: trustedProxies[0]: use addresses or CIDR ranges, for example 192.0.2.1 or 192.0.2.0/24, or file:PATH for a file with one of them in each line, or unix for connections to a Unix socket; check “/33”',
    'guard.json: limits.targetBytes: use a whole number from 1024 to 65536 (bytes)',
    'guard.json: sites: use a list of sites',
    'guard.json: colour: unknown key; see docs/operator/configuration.md',
    'SECURITY_OPTIMIZER_LOG_LEVEL: use debug, info, warn, error or silent',
  ]);
});

it('the settings of the Activity Log are read, and mistakes in them reported', async () => {
  const activity = {
    maxRows: 5000,
    dns: ['192.0.2.53', '192.0.2.53:5353', '[2001:db8::53]:53', '2001:db8::53'],
    monitors: ['192.0.2.0/24'],
    securityLog: '/var/log/security-optimizer.log',
  };
  const plain = await folder({ sites: [site] }, { site: secret });
  expect((await loadConfig({ dataDir: plain, env: {} })).activity).toEqual({
    maxRows: 1_000_000,
    dns: [],
    monitors: [],
    securityLog: null,
  });
  const full = await folder({ sites: [site], activity }, { site: secret });
  expect((await loadConfig({ dataDir: full, env: {} })).activity).toEqual(activity);
  const invalid = {
    maxRows: 10,
    dns: ['dns.example.com', '192.0.2.53:0', '2001:db8::53:x'],
    monitors: ['all'],
    days: 3,
  };
  const dns = 'use addresses of DNS servers, for example 192.0.2.53 or 192.0.2.53:5353';
  expect(await findMistakes(await folder({ sites: [site], activity: invalid }, { site: secret }))).toEqual([
    'guard.json: activity.maxRows: use a whole number from 1000 to 1000000000 (rows)',
    `guard.json: activity.dns[0]: ${dns}`,
    `guard.json: activity.dns[1]: ${dns}`,
    `guard.json: activity.dns[2]: ${dns}`,
    'guard.json: activity.monitors[0]: use addresses or CIDR ranges, for example 192.0.2.1 or 192.0.2.0/24; check “all”',
    'guard.json: activity.days: unknown key; see docs/operator/configuration.md',
  ]);
});

it('a configuration without a site is accepted', async () => {
  const config = await loadConfig({ dataDir: await folder({}), env: {} });
  expect(config).toMatchObject({ sites: [], quarantined: [] });
});

it('a site whose secret is missing, malformed or readable by others is quarantined, and no other', async () => {
  const sites = ['a', 'b', 'c', 'd'].map((id) => ({
    id,
    upstream: 'http://127.0.0.1:1',
    hosts: [`${id}.example.com`],
  }));
  const dataDir = await folder({ sites }, { b: 'short', c: secret, d: secret });
  await chmod(join(dataDir, 'sites', 'c.secret'), 0o644);
  const config = await loadConfig({ dataDir, env: {} });
  expect(config.sites.map(({ id }) => id)).toEqual(['d']);
  expect(config.quarantined).toEqual(
    [
      ['a', 'a.secret: can’t be read (ENOENT); `security-optimizer attach` writes it'],
      ['b', 'b.secret: must hold 64 lower-case hexadecimal digits; remove it and attach the site again'],
      ['c', 'c.secret: others may read it; run chmod 600 on it'],
    ].map(([id, reason]) => {
      return { id, hosts: [`${id}.example.com`], cause: 'key', reason: join(dataDir, 'sites', reason as string) };
    }),
  );
});

it('a missing file and invalid JSON are reported clearly', async () => {
  expect((await findMistakes(await scratchFolder()))[0]).toContain('guard.json: can’t be read (ENOENT)');
  expect((await findMistakes(await folder('{')))[0]).toContain('guard.json: is not valid JSON');
});

it('what must be an object and is none is reported with its key', async () => {
  const allowed = 'use an object with keys and values; see docs/operator/configuration.md';
  expect(await findMistakes(await folder('[]'))).toEqual([`guard.json: the file: ${allowed}`]);
  const dataDir = await folder({ limits: 5, metrics: 'on', mail: { smtp: true }, sites: [] });
  expect([...(await findMistakes(dataDir))].sort()).toEqual(
    ['limits', 'mail.smtp', 'metrics'].map((key) => `guard.json: ${key}: ${allowed}`),
  );
});

it('a byte order mark and line ends of another system change nothing', async () => {
  const smtp = { host: 'smtp.example.com', user: 'guard', passwordFile: 'mail.password', from: 'reports@example.com' };
  const file = { sites: [site], mail: { smtp }, trustedProxies: ['file:cdn.txt'] };
  const asEdited = (text: string) => `\ufeff${text.replaceAll('\n', '\r\n')}`;
  const dataDir = await folder(asEdited(JSON.stringify(file, null, 2)), { site: asEdited(`${secret}\n`) });
  await writeFile(join(dataDir, 'mail.password'), asEdited('a b\n'), { mode: 0o600 });
  await writeFile(join(dataDir, 'cdn.txt'), asEdited('# the network\n192.0.2.0/24\n'));
  const config = await loadConfig({ dataDir, env: {} });
  expect(config).toMatchObject({
    sites: [{ id: 'site', secret }],
    quarantined: [],
    mail: { smtp: { login: { password: 'a b' } } },
    trustedProxies: ['192.0.2.0/24'],
  });
});

it('hosts are accepted in letters of any script and with a final dot, and count as browsers send them', async () => {
  const hosts = ['B\u00fccher.Example', '*.\u4f8b\u3048.example', 'example.com.', 'EXAMPLE.org'];
  const { sites, quarantined } = await loadConfig({ dataDir: await folder({ sites: [{ ...site, hosts }] }), env: {} });
  expect(quarantined).toEqual([]);
  expect(sites[0]?.hosts).toEqual(['xn--bcher-kva.example', '*.xn--r8jz45g.example', 'example.com', 'example.org']);
});

it.each([
  'b\u00fccher.example:80',
  'https://b\u00fccher.example',
  'b\u00fccher example',
  'example.com..',
  '.',
  '\u00fc*.example',
])('the host %s is refused', async (host) => {
  const dataDir = await folder({ sites: [{ ...site, hosts: [host] }] });
  expect((await loadConfig({ dataDir, env: {} })).quarantined[0]?.reason).toContain('use host names without port');
});

it('a host belongs to one site however it is written', async () => {
  const other = { ...site, id: 'other', hosts: ['xn--bcher-kva.example.'] };
  const sites = [{ ...site, hosts: ['B\u00dcCHER.example'] }, other];
  const { quarantined } = await loadConfig({
    dataDir: await folder({ sites }, { site: secret, other: secret }),
    env: {},
  });
  expect(quarantined).toMatchObject([
    { id: 'other', hosts: [], reason: expect.stringContaining('xn--bcher-kva.example is named twice') },
  ]);
});

it('the provider’s content of the Security Dashboard is accepted with https URLs only', async () => {
  const ebook = { title: 'Ten steps', link: 'https://example.com/guide' };
  const branding = { ebook, rateLink: 'https://example.com/review' };
  const config = await loadConfig({ dataDir: await folder({ sites: [site], branding }), env: {} });
  expect(config.branding).toEqual({ ...branding, ebook: { ...ebook, text: '', image: '' }, rateAfterDays: 7 });
  const none = await loadConfig({ dataDir: await folder({ sites: [site] }), env: {} });
  expect(none.branding).toEqual({ ebook: null, rateLink: '', rateAfterDays: 7 });
  const invalid = { ebook: { title: ' ', link: 'javascript:alert(1)' }, rateLink: 'http://example.com/' };
  expect(await findMistakes(await folder({ sites: [site], branding: invalid }))).toEqual([
    'guard.json: branding.ebook.title: use a text of 1 to 300 characters',
    'guard.json: branding.ebook.link: use an https address, for example https://example.com/guide',
    'guard.json: branding.rateLink: use an https address, or "" for none',
  ]);
});

it('URLs for what owners agree to are https or on this machine, and a cover may be a path of the site', async () => {
  const consent = { technicalDataUrl: 'https://example.com/data', emailUrl: 'http://127.0.0.1:9000/mails' };
  const ebook = { title: 'Ten steps', link: 'https://example.com/guide', image: '/wp-content/uploads/guide.png' };
  const config = await loadConfig({ dataDir: await folder({ sites: [site], consent, branding: { ebook } }), env: {} });
  expect([config.consent, config.branding.ebook?.image]).toEqual([consent, ebook.image]);
  const none = await loadConfig({ dataDir: await folder({ sites: [site] }), env: {} });
  expect(none.consent).toEqual({ technicalDataUrl: null, emailUrl: null });
  const invalid = {
    consent: { emailUrl: 'http://example.com/' },
    branding: { ebook: { ...ebook, image: '//example.com/a' } },
  };
  expect((await findMistakes(await folder({ sites: [site], ...invalid }))).map((line) => line.split(': ')[1])).toEqual([
    'branding.ebook.image',
    'consent.emailUrl',
  ]);
});

it('the password of the mail server is read from the file or the environment, and the file must be private', async () => {
  const smtp = { host: 'smtp.example.com', user: 'guard', passwordFile: 'mail.password', from: 'reports@example.com' };
  const dataDir = await folder({ sites: [site], mail: { smtp } });
  expect(await findMistakes(dataDir)).toEqual(['mail.password: can’t be read (ENOENT)']);
  await writeFile(join(dataDir, 'mail.password'), 'a b\n', { mode: 0o600 });
  const { mail } = await loadConfig({ dataDir, env: {} });
  const server = { host: 'smtp.example.com', port: 587, secure: false, from: 'reports@example.com' };
  expect(mail.smtp).toEqual({ ...server, login: { user: 'guard', password: 'a b' } });
  const env = { SECURITY_OPTIMIZER_SMTP_PASSWORD: 'other' };
  expect((await loadConfig({ dataDir, env })).mail.smtp?.login?.password).toBe('other');
  await chmod(join(dataDir, 'mail.password'), 0o644);
  expect(await findMistakes(dataDir)).toEqual(['mail.password: others may read it; run chmod 600 on it']);
});

it.each([
  [{ host: 'smtp.example.com' }, 'mail.smtp.from: use an e-mail address'],
  [{ host: 'smtp.example.com', from: 'reports@example.com\r\nBcc: a@example.com' }, 'mail.smtp.from: use an e-mail'],
  [{ host: 'smtp example', from: 'reports@example.com' }, 'mail.smtp.host: use the name or address'],
  [{ host: 'smtp.example.com', port: 0, from: 'reports@example.com' }, 'mail.smtp.port: use a whole number'],
  [{ host: 'smtp.example.com', user: 'guard', from: 'reports@example.com' }, 'mail.smtp: `user` needs a password'],
])('the mail server %j is refused', async (smtp, mistake) => {
  const mistakes = await findMistakes(await folder({ sites: [site], mail: { smtp } }));
  expect(mistakes).toHaveLength(1);
  expect(mistakes[0]).toContain(mistake);
});

it.skipIf(!hasOpenssl)(
  'further certificate authorities for alerts are read from a PEM file with comments',
  async () => {
    const [one, other] = [await certificateAuthority(), await certificateAuthority()];
    const dataDir = await folder({ sites: [site], alerts: { caFile: 'alerts.pem' } });
    await writeFile(join(dataDir, 'alerts.pem'), `Our CA\r\n${one.cert}# the next one\n${other.cert.trim()}`);
    const { alerts } = await loadConfig({ dataDir, env: {} });
    expect(alerts).toMatchObject({ privateTargets: [], plainHttp: false });
    expect(alerts.authorities.map((text) => text.trim())).toEqual([one.cert.trim(), other.cert.trim()]);
    const none = await loadConfig({ dataDir: await folder({ sites: [site] }), env: {} });
    expect(none.alerts.authorities).toEqual([]);
  },
);

it.skipIf(!hasOpenssl)('a file of certificate authorities that can’t be used is refused', async () => {
  const dataDir = await folder({ sites: [site], alerts: { caFile: 'alerts.pem' } });
  const file = join(dataDir, 'alerts.pem');
  expect(await findMistakes(dataDir)).toEqual(['alerts.pem: can’t be read (ENOENT); alerts.caFile names it']);
  const { cert } = await certificateAuthority();
  const noCertificate =
    'alerts.pem: holds no certificate in PEM format (-----BEGIN CERTIFICATE-----); alerts.caFile names it';
  for (const text of ['', 'hello', '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n']) {
    await writeFile(file, text);
    expect([text, await findMistakes(dataDir)]).toEqual([text, [noCertificate]]);
  }
  for (const text of [cert.slice(0, 300), cert.replace(/\n[^\n]{20}/, '\n'), cert.replace('MII', '!!!')]) {
    await writeFile(file, `${cert}${text}`);
    expect(await findMistakes(dataDir)).toEqual(['alerts.pem: certificate 2 is damaged; alerts.caFile names it']);
  }
  for (const caFile of ['', 7, ['alerts.pem']]) {
    const mistakes = await findMistakes(await folder({ sites: [site], alerts: { caFile } }));
    expect(mistakes).toEqual([
      'guard.json: alerts.caFile: use a file of certificate authorities in PEM format, or null',
    ]);
  }
});

it('port 465 uses implicit TLS', async () => {
  const smtp = { host: 'smtp.example.com', port: 465, from: 'Reports <reports@example.com>' };
  const { mail } = await loadConfig({ dataDir: await folder({ sites: [site], mail: { smtp } }), env: {} });
  expect(mail.smtp).toMatchObject({ secure: true, login: null });
});

it('Unix sockets are accepted with absolute paths within the system’s limit', async () => {
  const of = (keys: object) => folder({ sites: [site], ...keys });
  const config = await loadConfig({
    dataDir: await of({
      listen: 'unix:/run/guard.sock',
      metrics: { listen: 'unix:/run/metrics.sock' },
      trustedProxies: ['unix', '192.0.2.1'],
      sites: [{ id: 'site', upstream: 'unix:/run/php.sock' }],
    }),
    env: {},
  });
  expect(config).toMatchObject({
    listen: { path: '/run/guard.sock' },
    metrics: { listen: { path: '/run/metrics.sock' } },
  });
  expect(config.trustedProxies).toEqual(['unix', '192.0.2.1']);
  expect(config.sites[0]?.upstream).toBe('unix:/run/php.sock');
  for (const text of [
    'unix:run/guard.sock',
    'unix:',
    'unix:/',
    'unix:/run/',
    `unix:/${'é'.repeat(52)}`,
    'unix:/a\0b',
  ]) {
    const listen = await findMistakes(await of({ listen: text }));
    expect([text, listen]).toEqual([text, [expect.stringMatching(/^guard\.json: listen: use HOST:PORT/)]]);
    const broken = await loadConfig({ dataDir: await of({ sites: [{ id: 'site', upstream: text }] }), env: {} });
    expect([text, broken.quarantined]).toMatchObject([
      text,
      [{ cause: 'entry', reason: expect.stringContaining('sites[0].upstream: use the http') }],
    ]);
  }
  for (const key of ['activity', 'alerts']) {
    const list = key === 'activity' ? 'monitors' : 'privateTargets';
    expect(await findMistakes(await of({ [key]: { [list]: ['unix'] } }))).toHaveLength(1);
  }
});

it('the PROXY protocol is accepted from listed proxies only', async () => {
  const config = await loadConfig({
    dataDir: await folder({ sites: [site], proxyProtocol: true, trustedProxies: ['192.0.2.1'] }),
    env: {},
  });
  expect(config.proxyProtocol).toBe(true);
  expect(await findMistakes(await folder({ sites: [site], proxyProtocol: true }))).toEqual([
    'proxyProtocol: name the proxies that send the header in trustedProxies; from others guard takes none',
  ]);
});

it('proxies are read from files, too, once each, for all sites and for one', async () => {
  const sites = [{ ...site, trustedProxies: ['file:lists/cdn.txt', '192.0.2.7'] }];
  const dataDir = await folder({ trustedProxies: ['127.0.0.1', 'file:lists/cdn.txt'], sites });
  await mkdir(join(dataDir, 'lists'));
  const list = '# ranges of the network\n198.51.100.0/24\r\n\n  2001:db8:1::/48  # more of them\n';
  await writeFile(join(dataDir, 'lists', 'cdn.txt'), list);
  const config = await loadConfig({ dataDir, env: {} });
  expect(config.trustedProxies).toEqual(['127.0.0.1', '198.51.100.0/24', '2001:db8:1::/48']);
  expect(config.sites[0]?.trustedProxies).toEqual(['198.51.100.0/24', '2001:db8:1::/48', '192.0.2.7']);
});

it('addresses are accepted as people paste them, in the file, in the environment and in files of addresses', async () => {
  const trustedProxies = ['[2001:db8::7]', 'fe80::1%eth0', '192.0.2.0 255.255.255.0, 198.51.100.7 \u2013 9', 'unix'];
  const dataDir = await folder({ trustedProxies, sites: [{ ...site, trustedProxies: ['file:cdn.txt'] }] });
  await writeFile(join(dataDir, 'cdn.txt'), '\ufeff198.51.100.0/255.255.255.0, 203.0.113.4-7; // two\n');
  const config = await loadConfig({ dataDir, env: {} });
  const read = ['2001:db8::7', 'fe80::1', '192.0.2.0/24', '198.51.100.7-198.51.100.9', 'unix'];
  expect(config.trustedProxies).toEqual(read);
  expect(config.sites[0]?.trustedProxies).toEqual(['198.51.100.0/24', '203.0.113.4-203.0.113.7']);
  const set = 'unix, [2001:db8::7]:443 192.0.2.0 255.255.255.0;file:cdn.txt 198.51.100.7 - 198.51.100.9';
  expect((await loadConfig({ dataDir, env: { SECURITY_OPTIMIZER_TRUSTED_PROXIES: set } })).trustedProxies).toEqual([
    ...['unix', '198.51.100.0/24', '203.0.113.4-203.0.113.7', '2001:db8::7', '192.0.2.0/24'],
    '198.51.100.7-198.51.100.9',
  ]);
});

it.each([
  ['', 'cdn.txt: holds no address; all visitors would have the address of the proxy'],
  ['# nothing\n', 'cdn.txt: holds no address; all visitors would have the address of the proxy'],
  ['198.51.100.0/24\n<html>\n', 'cdn.txt: line 2 is no address or range; check “html”'],
  [null, 'cdn.txt: can’t be read (ENOENT); trustedProxies names it'],
])('a file of proxies that contains %j is refused', async (text, mistake) => {
  const dataDir = await folder({ trustedProxies: ['file:cdn.txt'], sites: [site] });
  if (text !== null) await writeFile(join(dataDir, 'cdn.txt'), text);
  expect(await findMistakes(dataDir)).toEqual([mistake]);
});

import { describe, expect, it } from 'vitest';
import {
  parseWebhookUrl,
  resolveBySystem,
  resolveTarget,
  type TargetPolicy,
  TargetRefused,
  toOwnNetworks,
} from './safe-target.js';

const closed: TargetPolicy = { privateTargets: [], plainHttp: false, ownNetworks: () => [] };

describe('a target', () => {
  const refusal = async (host: string, policy = closed, addresses?: string[]) => {
    try {
      await resolveTarget(host, policy, async () => addresses ?? []);
      return null;
    } catch (error) {
      if (!(error instanceof TargetRefused)) throw error;
      return error.text;
    }
  };
  const INSIDE = 'This address is inside a private network. Ask your hosting provider to allow it.';

  it.each([
    '127.0.0.1',
    '127.255.0.9',
    '0.0.0.0',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '192.0.2.1',
    '224.0.0.1',
    '255.255.255.255',
    '[::1]',
    '[::]',
    '[fe80::1]',
    '[fd00::1]',
    '[ff02::1]',
    '[2001:db8::1]',
    '[::ffff:127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '[::127.0.0.1]',
    '[::ffff:0:127.0.0.1]',
    '[64:ff9b:1::7f00:1]',
    '[64:ff9b::a9fe:a9fe]',
    '[2001:0:7f00:1::]',
    '[2606:4700::5efe:7f00:1]',
    '[2606:4700::200:5efe:a00:1]',
    '[fec0::1]',
    'fe80::1%lo',
    '::1%lo',
  ])('in a private network is refused: %s', async (host) => expect(await refusal(host)).toBe(INSIDE));

  it.each(['8.8.8.8', '172.15.0.1', '172.32.0.1', '[2606:4700::1111]', '[64:ff9b::808:808]'])(
    'on the internet is allowed: %s',
    async (host) => expect(await refusal(host)).toBeNull(),
  );

  it.each(['127.1', '0x7f.0.0.1', '0177.0.0.1', '2130706433', '0x7f000001', '017700000001', '0'])(
    'is refused in every spelling that the system reads as an address of this machine: %s',
    async (host) => {
      const inSystemLog = resolveTarget(host, closed, resolveBySystem);
      await expect(inSystemLog).rejects.toMatchObject({ text: INSIDE });
      const url = parseWebhookUrl(`https://${host}/`, closed);
      await expect(resolveTarget(url.hostname, closed, resolveBySystem)).rejects.toMatchObject({ text: INSIDE });
    },
  );

  it.each(['https://１２７.0.0.1/', 'https://127。0。0。1/', 'https://127.0.0.1./', 'https://①②⑦.0.0.1/'])(
    'in a URL is refused in every spelling that browsers read as this machine: %s',
    async (url) => expect(await refusal(parseWebhookUrl(url, closed).hostname)).toBe(INSIDE),
  );

  it.each(['localhost', 'localhost.', 'LOCALHOST', '127.0.0.1.', '127.0.0.1.nip.example'])(
    'is refused when its name means this machine: %s',
    async (host) => expect(await refusal(host, closed, ['127.0.0.1'])).toBe(INSIDE),
  );

  it.each(['', '.', '..', '[]'])('without a name is refused and not looked up: “%s”', async (host) => {
    expect(await refusal(host, closed, ['8.8.8.8'])).toMatchObject({ code: 'alert_host_unknown' });
  });

  it.each(['https://[fe80::1%25eth0]/', 'https://[::1%lo]/', 'https:///', 'https://.\u00ad/'])(
    'in a URL without a valid host is refused: %s',
    async (url) => {
      const check = async () => resolveTarget(parseWebhookUrl(url, closed).hostname, closed, async () => []);
      await expect(check()).rejects.toThrow(TargetRefused);
    },
  );

  it('is refused when it is this machine or in its network, also with a public address', async () => {
    const policy = { ...closed, ownNetworks: () => ['8.8.4.4', '8.8.4.4/24', '2606:4700::9/64', '1.1.1.1'] };
    const inside = ['8.8.4.4', '8.8.4.200', '2606:4700::77', '1.1.1.1', '64:ff9b::808:407', '2620::5efe:808:407'];
    for (const host of inside) expect([host, await refusal(host, policy)]).toEqual([host, INSIDE]);
    for (const host of ['8.8.5.1', '2606:4700:0:1::1', '1.1.1.2', '64:ff9b::808:507']) {
      expect([host, await refusal(host, policy)]).toEqual([host, null]);
    }
    expect(await refusal('8.8.4.200', { ...policy, privateTargets: ['8.8.4.200'] })).toBeNull();
    // Interfaces change while guard runs.
    let own: string[] = [];
    const changing = { ...closed, ownNetworks: () => own };
    expect(await refusal('8.8.4.4', changing)).toBeNull();
    own = ['8.8.4.4'];
    expect(await refusal('8.8.4.4', changing)).toBe(INSIDE);
  });

  it('is refused when any of its addresses is private', async () => {
    expect(await refusal('hooks.example.com', closed, ['8.8.8.8', '10.0.0.1'])).toBe(INSIDE);
    expect(await refusal('hooks.example.com', closed, ['8.8.8.8', '8.8.4.4'])).toBeNull();
  });

  it('in a private network is allowed where the provider allows it, and no other is', async () => {
    const policy = { ...closed, privateTargets: ['10.0.0.0/24'] };
    expect(await refusal('10.0.0.7', policy)).toBeNull();
    expect(await refusal('10.0.1.7', policy)).toBe(INSIDE);
  });

  it('without an address is refused with a reason', async () => {
    expect(await refusal('gone.example.com')).toMatchObject({ code: 'alert_host_unknown' });
  });

  it.each([
    ['ftp://example.com/', 'Enter a whole address'],
    ['hooks.example.com/site', 'Enter a whole address'],
    ['http://hooks.example.com/', 'https://'],
    ['https://user:pass@hooks.example.com/', 'user name'],
  ])('%s is refused as a webhook', (url, text) => {
    const parse = () => parseWebhookUrl(url, closed);
    expect(parse).toThrow(TargetRefused);
    try {
      parse();
    } catch (error) {
      expect((error as TargetRefused).text).toContain(text);
    }
  });
});

describe('the machine’s own networks', () => {
  const card = (address: string, cidr: string | null) => {
    const family = address.includes(':') ? 'IPv6' : 'IPv4';
    return { address, cidr, family, netmask: '', mac: '', internal: false, scopeid: 0 } as const;
  };

  it('are the addresses and networks of its interfaces', () => {
    expect(toOwnNetworks({ eth0: [card('8.8.4.4', '8.8.4.4/24'), card('2606:4700::9', '2606:4700::9/64')] })).toEqual([
      ...['8.8.4.4', '8.8.4.4/24', '2606:4700::9', '2606:4700::9/64'],
    ]);
  });

  it('are only the address where the network is a large part of the internet, or unknown', () => {
    const wide = [card('8.8.4.4', '8.8.4.4/0'), card('9.9.9.9', '9.9.9.9/7'), card('2606:4700::9', '2606:4700::9/31')];
    expect(toOwnNetworks({ tun0: [...wide, card('1.1.1.1', null)], gone: undefined })).toEqual([
      ...['8.8.4.4', '9.9.9.9', '2606:4700::9', '1.1.1.1'],
    ]);
  });

  it('are only the address at a point-to-point link', async () => {
    const own = toOwnNetworks({ ppp0: [card('8.8.4.4', '8.8.4.4/32'), card('2606:4700::9', '2606:4700::9/128')] });
    const policy = { ...closed, ownNetworks: () => own };
    await expect(resolveTarget('8.8.4.5', policy, resolveBySystem)).resolves.toHaveLength(1);
    await expect(resolveTarget('2606:4700::8', policy, resolveBySystem)).resolves.toHaveLength(1);
    await expect(resolveTarget('8.8.4.4', policy, resolveBySystem)).rejects.toThrow(TargetRefused);
  });

  it('include link-local addresses, whose interface the system appends', () => {
    expect(toOwnNetworks({ eth0: [card('fe80::1%eth0', 'fe80::1%eth0/64')] })).toEqual(['fe80::1', 'fe80::1/64']);
  });
});

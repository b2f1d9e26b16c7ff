import { describe, expect, it } from 'vitest';
import { siteEntry } from '../config/config-file.js';
import { findNamedSite, type KeyFolder, type LocatedSite, type NamedSite, toKeyLocation } from './site-identity.js';

const CORE = '/srv/core';

function placed(id: string, named: string, more: Partial<LocatedSite> = {}, hosts = [`${id}.example`]): LocatedSite {
  const site = siteEntry.parse({ id, hosts, upstream: 'http://127.0.0.1:1', wordpressDir: named });
  return { site, named, wordpressDir: named, muPluginsDir: `${named}/wp-content/mu-plugins`, ...more };
}

function find(sites: readonly LocatedSite[], wanted: Partial<NamedSite>): string | null {
  const named = wanted.named ?? '/srv/a';
  return (
    findNamedSite(sites, {
      ...{ named, wordpressDir: named, hosts: null, id: null, isNew: false, upstream: null, muPluginsDir: null },
      ...wanted,
    })?.id ?? null
  );
}

describe('findNamedSite', () => {
  const a = placed('a', '/srv/a/wp', { wordpressDir: CORE });
  const b = placed('b', '/srv/b/wp', { wordpressDir: CORE });

  it('finds the site by its path, wherever the path leads by now', () => {
    expect(find([a, b], { named: '/srv/a/wp', wordpressDir: '/srv/core-7' })).toBe('a');
    expect(find([a, b], { named: '/srv/b/wp', wordpressDir: CORE })).toBe('b');
  });

  it('finds the site by the folder that its path leads to', () => {
    expect(find([a], { named: CORE })).toBe('a');
    expect(find([a], { named: CORE, hosts: ['a.example'] })).toBe('a');
  });

  it('tells two sites apart whose paths lead to one core and whose hosts differ', () => {
    expect(find([a], { named: '/srv/b/wp', wordpressDir: CORE, hosts: ['b.example'] })).toBeNull();
    expect(find([a], { named: '/srv/a2/wp', wordpressDir: CORE, hosts: ['a.example', 'www.a.example'] })).toBe('a');
  });

  it('does not take another path to the core for the site when the upstream or the must-use plugins differ', () => {
    const wanted = { named: '/srv/b/wp', wordpressDir: CORE };
    expect(find([a], { ...wanted, upstream: 'http://127.0.0.1:1' })).toBe('a');
    expect(() => find([a], { ...wanted, upstream: 'http://127.0.0.1:2' })).toThrow(
      'add --site a; if it is another site',
    );
    expect(() => find([a], { ...wanted, muPluginsDir: '/srv/b/mu-plugins' })).toThrow('name its hosts with --host');
    expect(find([a], { named: '/srv/a/wp', wordpressDir: CORE, upstream: 'http://127.0.0.1:2' })).toBe('a');
    expect(find([a], { ...wanted, upstream: 'http://127.0.0.1:2', id: 'a' })).toBe('a');
  });

  it('does not guess where several sites share the folder', () => {
    expect(() => find([a, b], { named: '/srv/c/wp', wordpressDir: CORE })).toThrow('several sites: a, b');
    expect(find([a, b], { named: CORE, id: 'b' })).toBe('b');
    expect(find([a, b], { named: CORE, hosts: ['b.example'] })).toBe('b');
  });

  it('does not give the hosts of a site to another site in the same folder', () => {
    const one = placed('a', CORE);
    expect(() => find([one], { named: CORE, hosts: ['b.example'] })).toThrow(
      '/srv/core is the site a with the host a.example. If that site has other hosts from now on, add --site a; if this is another site that shares the folder, add --new-site.',
    );
    expect(find([one], { named: CORE, hosts: ['b.example'], id: 'a' })).toBe('a');
    expect(find([one], { named: CORE, hosts: ['b.example'], isNew: true })).toBeNull();
  });

  it('lets a site change from all hosts to named ones, and back', () => {
    const all = placed('site', CORE, {}, ['*']);
    expect(find([all], { named: CORE, hosts: ['a.example'] })).toBe('site');
    expect(find([placed('a', CORE)], { named: CORE, hosts: ['*'] })).toBe('a');
  });
});

describe('the location of a key', () => {
  const folder: KeyFolder = {
    wordpressDir: '/srv/a',
    muPluginsDir: '/srv/a/wp-content/mu-plugins',
    isShared: false,
    isExternal: false,
  };
  const inMu = { ...folder, muPluginsDir: '/opt/mu' };

  it('is secret.php in a folder that only the site uses, also where sites share a core', () => {
    expect(toKeyLocation(folder, [])).toBe('secret.php');
    expect(toKeyLocation(folder, [placed('b', '/srv/b/wp', { wordpressDir: '/srv/a' })])).toBe('secret.php');
  });

  it('is a file of its own where other sites use the folder, according to its contents or to another site', () => {
    expect(toKeyLocation({ ...inMu, isShared: true }, [])).toBe('by-path');
    expect(toKeyLocation(inMu, [placed('b', '/srv/b', { muPluginsDir: '/opt/mu' })])).toBe('by-path');
  });

  it('is refused where another site has the same core and the same folder: each site must then provide its own key', () => {
    const twin = placed('b', '/srv/b', { wordpressDir: '/srv/a', muPluginsDir: '/opt/mu' });
    expect(() => toKeyLocation(inMu, [twin])).toThrow(
      /The site b \(the host b\.example\) has the same WordPress, \/srv\/a/,
    );
    expect(() => toKeyLocation({ ...inMu, isExternal: true }, [twin])).toThrow('the site b first');
    const named = { ...twin, site: { ...twin.site, externalKey: true } };
    expect(() => toKeyLocation(inMu, [named])).toThrow('SECURITY_OPTIMIZER_KEY_FILE');
    expect(toKeyLocation({ ...inMu, isExternal: true }, [named])).toBe('external');
  });
});

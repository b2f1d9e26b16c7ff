import { pages } from '@security-optimizer/contract/pages';
import type { ReactNode } from 'react';
import { Header, ProtectionStatus } from '../../src/app/header.js';
import { PageBoundary } from '../../src/app/shell.js';
import { securitySettings } from '../../src/features/settings/settings-query.js';
import { useSettings } from '../../src/features/settings/use-settings.js';
import { Icon } from '../../src/ui/icon.js';
import { Lazy } from '../../src/ui/lazy.js';
import { TableSkeleton } from '../../src/ui/table.js';
import { Tabs, type TabsProps } from '../../src/ui/tabs.js';
import type { Group, PartExample } from '../example.js';
import { held } from '../stage/fake-site.js';
import { LONG, nothing } from './samples.js';

const files = import.meta.glob('../../src/ui/icons/*.svg', { query: '?raw', import: 'default' });
const iconNames = Object.keys(files).map((path) => path.slice('../../src/ui/icons/'.length, -'.svg'.length));

type Sample = TabsProps<'one' | 'two' | 'three'>;
const three: Sample = {
  label: 'Tabs',
  base: 'gallery',
  current: 'two',
  tabs: [
    { id: 'one', text: 'Unknown' },
    { id: 'two', text: 'Blocked', count: '6' },
    { id: 'three', text: 'Log Settings' },
  ],
  onChange: nothing,
};

function tabs(state: string, props: Partial<Sample>, more: Partial<PartExample> = {}): PartExample {
  return {
    id: `tabs-${state}`,
    title: `tabs, ${state.replace(/-/g, ' ')}`,
    draw: () => <Tabs {...three} base={`gallery-${state}`} {...props} />,
    ...more,
  };
}

/** The open page has requested its options. */
function Status() {
  useSettings(securitySettings);
  return <ProtectionStatus page="SITE_SECURITY" />;
}

function Broken(): ReactNode {
  throw new Error('A part of the gallery that fails on purpose.');
}

const loadNever = () => held();
const loadFails = () => Promise.reject(new Error('The file is not there.'));

export const frameParts: Group = {
  id: 'frame',
  title: 'Header, tabs and loading',
  examples: [
    ...pages.map((page) => ({
      id: `header-${page.slug}`,
      title: `header, ${page.slug}`,
      ground: 'flush' as const,
      draw: () => <Header page={page} loader={null} as="div" footRef={nothing} />,
    })),
    { id: 'protection-status', title: 'protection status', ground: 'flush', draw: () => <Status /> },
    tabs('open', {}),
    tabs('hover', {}, { force: { state: 'hover', on: '[role="tab"]' } }),
    tabs('focus', {}, { force: { state: 'focus', on: '.is-on' } }),
    tabs(
      'too-many',
      {},
      {
        draw: () => (
          <div style={{ width: 260 }}>
            <Tabs
              {...three}
              base="gallery-too-many"
              tabs={three.tabs.map((tab) => ({ ...tab, text: `${tab.text} visitors` }))}
            />
          </div>
        ),
      },
    ),
    {
      id: 'table-skeleton',
      title: 'table, loading',
      ground: 'flush',
      draw: () => <TableSkeleton columns={['Time', 'Visitor', 'IP address', 'Page visited', 'Actions']} />,
    },
    {
      id: 'lazy-loading',
      title: 'code on its way',
      draw: () => (
        <Lazy load={loadNever} props={{}}>
          <TableSkeleton columns={['Time', 'Visitor', 'Actions']} />
        </Lazy>
      ),
    },
    {
      id: 'lazy-failed',
      title: 'code that did not come',
      ground: 'page',
      draw: () => (
        <Lazy load={loadFails} props={{}}>
          {LONG}
        </Lazy>
      ),
    },
    {
      id: 'page-boundary',
      title: 'a page that fails',
      ground: 'page',
      draw: () => (
        <PageBoundary>
          <Broken />
        </PageBoundary>
      ),
    },
    {
      id: 'icons',
      title: 'icons',
      draw: () => (
        <div className="g-icons">
          {iconNames.map((name) => (
            <span key={name} className="g-icon">
              <Icon name={name} />
              {name}
            </span>
          ))}
        </div>
      ),
    },
  ],
};

import { Button, type ButtonProps } from '../../src/components/button.js';
import { MenuButton } from '../../src/components/menu-button.js';
import { Icon } from '../../src/icons/icon.js';
import type { Group, PartExample } from '../example.js';
import { LONG, nothing } from './samples.js';

const KINDS = [
  { kind: 'primary', text: 'Save' },
  { kind: 'secondary', text: 'Configure' },
  { kind: 'danger', text: 'Block' },
  { kind: 'quiet', text: 'Clear all' },
] as const;

function states({ kind, text }: (typeof KINDS)[number]): PartExample[] {
  const one = (state: string, props: Partial<ButtonProps> = {}, more: Partial<PartExample> = {}): PartExample => ({
    id: `button-${kind}${state === '' ? '' : `-${state}`}`,
    title: `${kind} ${state}`,
    draw: () => (
      <Button kind={kind} {...props}>
        {text}
      </Button>
    ),
    ...more,
  });
  return [
    one(''),
    ...(['hover', 'focus', 'active'] as const).map((state) => one(state, {}, { force: { state, on: 'button' } })),
    one('pending', { pendingText: 'Saving…' }),
    one('disabled', { disabled: true }),
    one('small', { small: true }),
  ];
}

const items = [
  { icon: 'ban', text: 'Manage IP Traffic', onChoose: nothing },
  { icon: 'search', text: 'View activity', onChoose: nothing },
];

export const buttons: Group = {
  id: 'buttons',
  title: 'Buttons, links and menus',
  small: true,
  examples: [
    ...KINDS.flatMap(states),
    {
      id: 'button-icon',
      title: 'with an icon',
      draw: () => (
        <Button>
          <Icon name="plus" />
          Add another
        </Button>
      ),
    },
    { id: 'button-long', title: 'long text', draw: () => <Button>{LONG}</Button> },
    ...([undefined, 'hover', 'focus'] as const).map(
      (state): PartExample => ({
        id: `icon-button${state === undefined ? '' : `-${state}`}`,
        title: `icon button ${state ?? ''}`,
        draw: () => (
          <button type="button" className="so-iconbtn so-iconbtn--line" aria-label="Refresh">
            <Icon name="refresh" />
          </button>
        ),
        ...(state === undefined ? {} : { force: { state, on: 'button' } }),
      }),
    ),
    ...([undefined, 'hover', 'focus'] as const).map(
      (state): PartExample => ({
        id: `link${state === undefined ? '' : `-${state}`}`,
        title: `link ${state ?? ''}`,
        draw: () => (
          <a className="so-link" href="#link">
            View all logs
          </a>
        ),
        ...(state === undefined ? {} : { force: { state, on: 'a' } }),
      }),
    ),
    {
      id: 'menu-closed',
      title: 'menu button',
      draw: () => (
        <MenuButton className="so-iconbtn" label="Actions for 203.0.113.24" items={items}>
          <Icon name="more" />
        </MenuButton>
      ),
    },
    {
      id: 'menu-open',
      title: 'menu, open',
      room: 140,
      draw: () => (
        <div style={{ paddingLeft: 240 }}>
          <MenuButton className="so-btn so-btn--tool" items={items}>
            Export
          </MenuButton>
        </div>
      ),
      act: (hands) => hands.click('button', 'Export'),
    },
  ],
};

import { pages } from '@security-optimizer/contract/pages';

const WORDPRESS = [
  'Posts',
  'Media',
  'Pages',
  'Comments',
  '',
  'Appearance',
  'Plugins',
  'Users',
  'Tools',
  'Settings',
  '',
];

/**
 * Draws what stands around us in wp-admin: the bar, the menu and the grey page. A stand-in in its measures and colours
 * only.
 *
 * @returns the element that takes what is shown
 */
export function drawFrame(root: HTMLElement): HTMLElement {
  const bar = element('div', 'wp-bar', element('b', '', 'Example site'), element('span', '', 'Howdy, owner'));
  const menu = element(
    'ul',
    'wp-menu',
    ...WORDPRESS.map((text) => element('li', text === '' ? 'is-gap' : '', text)),
    element('li', 'is-current', 'Security Optimizer'),
    ...pages.map(({ title }) => element('li', 'is-sub', title.replace(/^.* - /, ''))),
  );
  for (const part of [bar, menu]) part.setAttribute('aria-hidden', 'true');
  const content = element('div', 'wp-content');
  root.replaceChildren(bar, element('div', 'wp-back'), menu, content);
  return content;
}

function element(tag: string, className: string, ...children: readonly (Node | string)[]): HTMLElement {
  const made = document.createElement(tag);
  if (className !== '') made.className = className;
  made.append(...children);
  return made;
}

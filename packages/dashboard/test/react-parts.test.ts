import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type * as React from 'react';
import type * as ReactDOM from 'react-dom';
import type * as ReactDOMClient from 'react-dom/client';
import { describe, expect, it } from 'vitest';
import { findRefusedParts, keepUsedParts, NAMED_EXPORTS } from '../build/react-parts.mjs';

// The same components with React's whole production build and with the reduced one.

const require = createRequire(import.meta.url);
const whole: Prepare = (code) => Promise.resolve(code);
const shippedFiles = new Map<string, Promise<string>>();
const shipped: Prepare = (code, file) => {
  const prepared = shippedFiles.get(file) ?? keepUsedParts(code, file);
  shippedFiles.set(file, prepared);
  return prepared;
};

describe('the reduced build of React', { timeout: 60_000 }, () => {
  it('draws, updates and removes like the whole of React', async () => {
    const expected = await play(await load(whole));

    expect(await play(await load(shipped))).toEqual(expected);

    // The scenes had their intended effects.
    const log = expected.join('\n');
    for (const part of ['<svg', 'boundary', 'portal clicked', 'typed b', 'effect 1', 'cleaned 1', 'enter', 'late 2'])
      expect(log).toContain(part);
  });

  it('is at most two thirds of React', async () => {
    const file = await readReact('react-dom', 'react-dom-client');

    expect((await shipped(file, 'react-dom-client')).length).toBeLessThan((file.length * 2) / 3);
  });

  it('throws if a removed part is used', async () => {
    const { react, dom } = await load(shipped);
    const root = dom.createRoot(document.createElement('div'), { onUncaughtError: () => undefined });
    const draw = (type: unknown, props?: object): string => {
      let message = 'nothing happened';
      const failing = dom.createRoot(document.createElement('div'), {
        onUncaughtError: (error) => {
          message = String(error);
        },
      });
      dom.flushSync(() => failing.render(react.createElement(type as 'div', props)));
      return message;
    };

    expect(react.Suspense).toBeUndefined();
    expect(react.lazy).toBeUndefined();
    expect(draw(Symbol.for('react.suspense'))).toContain('#130');
    expect(draw({ $$typeof: Symbol.for('react.memo'), type: () => null })).toContain('#130');
    expect(draw(react.Fragment, { ref: { current: null }, children: 'text' })).toContain('left out');
    expect(draw('p', { children: Promise.resolve('text') })).toContain('left out');
    root.unmount();
  });
});

describe('unused parts of React in a module', () => {
  it.each([
    ["import { useState } from 'react';", []],
    ["import { createPortal } from 'react-dom';", []],
    ["import { Suspense, useState } from 'react';", ['Suspense']],
    ["import { type MemoExoticComponent, memo as keep } from 'react';", ['memo']],
    ["import type { Usable } from 'react';", []],
    ["import { hydrateRoot } from 'react-dom/client';", ['hydrateRoot']],
    ["export { startTransition } from 'react';", ['startTransition']],
    ["import * as React from 'react';\nReact.useState(0);\nReact.useTransition();", ['useTransition']],
    ["/** import { Suspense } from 'react' */", []],
    ["import { Suspense } from './own.js';", []],
    ['const field = <textarea value={text} />;', ['<textarea']],
    ['const text = <p dangerouslySetInnerHTML={{ __html }} />;', ['dangerouslySetInnerHTML']],
    ['const field = <input onCompositionEnd={end} />;', ['onCompositionEnd']],
    ['const field = <Select value={value} options={options} />;', []],
  ])('%s', (source, refused) => {
    expect(findRefusedParts(source)).toEqual(refused);
  });
});

describe('exports of React by name', () => {
  it.each([...NAMED_EXPORTS])('exist in %s', (source, names) => {
    const exported: object = require(source);
    expect(names.filter((name) => !(name in exported))).toEqual([]);
  });
});

type Prepare = typeof keepUsedParts;
interface Loaded {
  readonly react: typeof React;
  readonly dom: typeof ReactDOM & typeof ReactDOMClient;
}

function readReact(name: 'react' | 'react-dom', file: string): Promise<string> {
  return readFile(join(dirname(require.resolve(`${name}/package.json`)), 'cjs', `${file}.production.js`), 'utf8');
}

/** Runs React's files as separate modules, beside the React of the other tests. */
async function load(prepare: Prepare): Promise<Loaded> {
  const modules: Record<string, object> = { scheduler: require('scheduler') };
  const run = async (name: 'react' | 'react-dom', file: Parameters<Prepare>[1]): Promise<object> => {
    const exports = {};
    const code = await prepare(await readReact(name, file), file);
    new Function('exports', 'require', code)(exports, (id: string) => modules[id]);
    return exports;
  };
  modules.react = await run('react', 'react');
  modules['react-dom'] = await run('react-dom', 'react-dom');
  const client = await run('react-dom', 'react-dom-client');
  return { react: modules.react as typeof React, dom: { ...modules['react-dom'], ...client } as Loaded['dom'] };
}

/** Plays all scenes and returns what was drawn and called, in order. */
async function play({ react, dom }: Loaded): Promise<string[]> {
  const h = react.createElement;
  const log: string[] = [];
  const container = document.createElement('div');
  const outside = document.createElement('div');
  document.body.append(container, outside);
  const root = dom.createRoot(container, {
    onCaughtError: (error) => log.push(`caught ${String(error)}`),
    onUncaughtError: (error) => log.push(`uncaught ${String(error)}`),
  });
  const draw = (element: React.ReactNode): void => {
    dom.flushSync(() => root.render(element));
    log.push(container.innerHTML, outside.innerHTML);
  };
  const find = <Kind extends Element>(selector: string): Kind => {
    const found = document.querySelector<Kind>(selector);
    if (found === null) throw new Error(`${selector} is not there.`);
    return found;
  };
  const fire = (selector: string, event: Event): void => {
    find(selector).dispatchEvent(event);
    log.push(container.innerHTML, outside.innerHTML);
  };
  const bubbling = { bubbles: true, cancelable: true };

  // Attributes, styles, text, SVG, lists of every kind.
  const odd = [null, false, 0, '', 'text', ['nested', h('b', { key: 'b' }, 'bold')], new Set(['from', 'a set'])];
  draw(
    h(
      'section',
      {
        className: 'one',
        style: { color: 'red', lineHeight: 2, '--own': '3px' },
        hidden: true,
        'data-x': 1,
        tabIndex: 0,
      },
      ...odd,
      h('svg', { viewBox: '0 0 1 1' }, h('path', { d: 'M0 0', strokeWidth: 2 })),
      h(react.Fragment, null, h('br'), 'after'),
      h('a', { href: 'javascript:alert(1)' }, 'never'),
    ),
  );
  draw(h('section', { style: { color: 'blue' }, title: 'only' }));

  // Lists with keys in many orders.
  for (const keys of ['abcde', 'edcba', 'xay', 'ayxbc', '', 'cab', 'c', 'dcba'])
    draw(
      h(
        'ul',
        null,
        [...keys].map((key) => h('li', { key }, key)),
      ),
    );

  // State, effects, references, context, identifiers.
  const Theme = react.createContext('light');
  const Reader = (): React.ReactNode => h('em', null, react.useContext(Theme));
  const still = h('div', null, h(Reader));
  let drawn = 0;
  const Counter = ({ step }: { step: number }): React.ReactNode => {
    drawn++;
    const [count, setCount] = react.useState(() => 0);
    const [total, add] = react.useReducer((sum: number, one: number) => sum + one, 10);
    const button = react.useRef<HTMLButtonElement>(null);
    const double = react.useMemo(() => count * 2, [count]);
    const twice = react.useCallback(() => {
      setCount((value) => value + step);
      setCount((value) => value + step);
      add(step);
    }, [step]);
    react.useLayoutEffect(() => {
      log.push(`layout ${count} ${button.current?.textContent}`);
      return () => {
        log.push(`layout cleaned ${count}`);
      };
    }, [count]);
    react.useEffect(() => {
      log.push(`effect ${step}`);
      return () => {
        log.push(`cleaned ${step}`);
      };
    }, [step]);
    return h(
      Theme.Provider,
      { value: count > 1 ? 'dark' : 'light' },
      h('button', { ref: button, onClick: twice, id: 'count' }, `${count} ${double} ${total} ${react.useId()}`),
      h('i', { ref: (node: Element | null) => log.push(`ref ${node?.tagName}`) }),
      h('u', { ref: () => () => log.push('ref cleaned') }),
      still,
    );
  };
  draw(h(Counter, { step: 1 }));
  fire('#count', new MouseEvent('click', bubbling));
  draw(h(Counter, { step: 5 }));
  fire('#count', new MouseEvent('click', bubbling));
  log.push(`drawn ${drawn}`);
  draw(null);

  // An external store, and updates outside of events.
  const listeners = new Set<() => void>();
  let stored = 1;
  const Late = (): React.ReactNode => {
    const value = react.useSyncExternalStore(
      (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      () => stored,
    );
    const [late, setLate] = react.useState(1);
    react.useEffect(() => {
      const timer = setTimeout(() => setLate(2));
      return () => clearTimeout(timer);
    }, []);
    return h('p', { id: 'late' }, `late ${late} stored ${value}`);
  };
  root.render(h(Late));
  await expect.poll(() => container.textContent, { timeout: 20_000, interval: 5 }).toBe('late 2 stored 1');
  stored = 2;
  for (const listener of listeners) listener();
  await expect.poll(() => container.textContent, { timeout: 20_000, interval: 5 }).toBe('late 2 stored 2');
  log.push(container.innerHTML);
  draw(null);
  log.push(`${listeners.size} listeners`);

  // Controlled fields.
  const Fields = (): React.ReactNode => {
    const [text, setText] = react.useState('a');
    const [on, setOn] = react.useState(false);
    return h(
      'form',
      {
        onSubmit: (event: React.FormEvent) => {
          event.preventDefault();
          log.push('submitted');
        },
      },
      h('input', {
        id: 'text',
        value: text,
        onChange: (event: React.ChangeEvent<HTMLInputElement>) => {
          log.push(`typed ${event.target.value}`);
          if (event.target.value !== 'refused') setText(event.target.value);
        },
      }),
      h('input', { id: 'box', type: 'checkbox', checked: on, onChange: () => setOn(!on) }),
      h('input', { id: 'radio', type: 'radio', name: 'r', defaultChecked: true }),
    );
  };
  const values = (): void => {
    const checked = find<HTMLInputElement>('#box').checked;
    log.push(`${find<HTMLInputElement>('#text').value} ${checked}`);
  };
  draw(h(Fields));
  values();
  for (const typed of ['b', 'refused']) {
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(find('#text'), typed);
    fire('#text', new Event('input', bubbling));
    values();
  }
  find<HTMLInputElement>('#box').click();
  values();
  // An input method: Chinese or Japanese.
  fire('#text', new CompositionEvent('compositionstart', { ...bubbling, data: '' }));
  for (const [data, typed] of [
    ['k', 'bk'],
    ['か', 'bか'],
  ] as const) {
    fire('#text', new KeyboardEvent('keydown', { ...bubbling, keyCode: 229 }));
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(find('#text'), typed);
    fire('#text', new CompositionEvent('compositionupdate', { ...bubbling, data }));
    fire('#text', new InputEvent('input', { ...bubbling, data, isComposing: true }));
    values();
  }
  fire('#text', new CompositionEvent('compositionend', { ...bubbling, data: 'か' }));
  values();
  fire('form', new Event('submit', bubbling));

  // Events: order, capture, portals, focus, keys, pointers.
  const hear =
    (name: string) =>
    (event: React.SyntheticEvent): void => {
      log.push(`${name} ${event.type} ${(event.target as Element).id} ${(event as React.KeyboardEvent).key}`);
    };
  const Heard = (): React.ReactNode =>
    h(
      'div',
      {
        id: 'outer',
        onClick: hear('outer'),
        onClickCapture: hear('capture'),
        onFocus: hear('focus'),
        onBlur: hear('blur'),
        onKeyDown: hear('key'),
        onPaste: hear('paste'),
        onTouchStart: hear('touch'),
        onMouseEnter: hear('enter'),
        onMouseLeave: hear('leave'),
        onScroll: hear('scroll'),
      },
      h('input', { id: 'inner', onClick: hear('inner') }),
      h('input', { id: 'stops', onClick: (event: React.MouseEvent) => event.stopPropagation() }),
      dom.createPortal(h('button', { id: 'portal', onClick: () => log.push('portal clicked') }, 'Portal'), outside),
    );
  draw(h(Heard));
  for (const id of ['#inner', '#stops', '#portal']) fire(id, new MouseEvent('click', bubbling));
  find<HTMLElement>('#inner').focus();
  find<HTMLElement>('#stops').focus();
  find<HTMLElement>('#stops').blur();
  fire('#inner', new KeyboardEvent('keydown', { ...bubbling, key: 'Enter' }));
  fire('#inner', new Event('paste', bubbling));
  fire('#inner', new Event('touchstart', bubbling));
  fire('#inner', new MouseEvent('mouseover', { ...bubbling, relatedTarget: document.body }));
  fire('#inner', new MouseEvent('mouseout', { ...bubbling, relatedTarget: document.body }));

  // Errors in a boundary, while rendering and in an effect, then errors without one.
  class Boundary extends react.Component<{ readonly children: React.ReactNode }, { readonly broken: boolean }> {
    override state = { broken: false };
    static getDerivedStateFromError(): { broken: boolean } {
      return { broken: true };
    }
    override render(): React.ReactNode {
      return this.state.broken ? 'boundary' : this.props.children;
    }
  }
  const Throws = ({ when }: { when: 'drawing' | 'effect' }): React.ReactNode => {
    if (when === 'drawing') throw new Error('while drawing');
    react.useEffect(() => {
      throw new Error('in an effect');
    }, []);
    return 'soon broken';
  };
  draw(h(Boundary, { key: 1, children: h(Throws, { when: 'drawing' }) }));
  draw(h(Boundary, { key: 2, children: h('p', null, 'whole') }));
  draw(h(Boundary, { key: 3, children: h(Throws, { when: 'effect' }) }));
  draw(h(Throws, { when: 'drawing' }));
  draw(h('p', null, { not: 'a child' } as unknown as string));
  draw(h(undefined as unknown as string));
  draw(h('p', null, 'after all'));

  root.unmount();
  log.push(container.innerHTML, outside.innerHTML);
  container.remove();
  outside.remove();
  return log;
}

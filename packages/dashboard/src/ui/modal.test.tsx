import { act, render, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { describe, expect, it, vi } from 'vitest';
import { useModal } from './modal.js';

interface ModalProps {
  readonly name: string;
  readonly onEscape: (() => void) | null;
  readonly children?: ReactNode;
}

function Modal({ name, onEscape, children }: ModalProps) {
  const frame = useRef<HTMLDivElement>(null);
  const dialog = useRef<HTMLDivElement>(null);
  useModal(frame, dialog, onEscape);
  return (
    <div ref={frame} data-testid={`${name}-frame`}>
      <div ref={dialog} role="dialog" aria-label={name} tabIndex={-1}>
        <button type="button">{name} first</button>
        <button type="button" disabled>
          off
        </button>
        <button type="button">{name} last</button>
        {children}
      </div>
    </div>
  );
}

/** Appears by itself, like a dialog whose code is loaded first. */
function LateModal({ name }: { readonly name: string }) {
  const [loaded, setLoaded] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLoaded(true));
    return () => clearTimeout(timer);
  }, []);
  return loaded ? <Modal name={name} onEscape={null} /> : null;
}

function page(modals: ReactNode) {
  return (
    <>
      <main>
        <button type="button">behind</button>
      </main>
      <section data-top-layer="">
        <button type="button">message</button>
      </section>
      {modals}
    </>
  );
}

const focused = () => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent;

describe('a modal', () => {
  it('takes the focus and keeps Tab inside', async () => {
    render(page(<Modal name="one" onEscape={null} />));
    expect(focused()).toBe('one');
    await userEvent.tab();
    expect(focused()).toBe('one first');
    await userEvent.tab();
    expect(focused()).toBe('one last');
    await userEvent.tab();
    expect(focused()).toBe('one first');
    await userEvent.tab({ shift: true });
    expect(focused()).toBe('one last');
  });

  it('has the focus at once, so that no key acts on the page below', async () => {
    let focusedAtFirst: string | null | undefined;
    const { container } = render(page(<LateModal name="one" />));
    const observer = new MutationObserver(() => {
      focusedAtFirst ??= focused();
    });
    observer.observe(container, { childList: true });
    await waitFor(() => expect(focusedAtFirst).toBe('one'));
    observer.disconnect();
  });

  it('takes the focus back from the page, but not from toasts', async () => {
    const { getByText } = render(page(<Modal name="one" onEscape={null} />));
    act(() => getByText('behind').focus());
    await waitFor(() => expect(focused()).toBe('one'));
    act(() => getByText('message').focus());
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(focused()).toBe('message');
  });

  it('hides the rest from assistive technology and locks scrolling while it is open', () => {
    const { rerender, container } = render(page(<Modal name="one" onEscape={null} />));
    const main = container.querySelector('main');
    expect(main?.getAttribute('aria-hidden')).toBe('true');
    expect(container.querySelector('section')?.hasAttribute('aria-hidden')).toBe(false);
    expect(document.documentElement.style.overflow).toBe('hidden');
    // Otherwise the body, which wp-admin gives a height and an overflow, would scroll instead of the window.
    expect(document.body.style.overflow).toBe('visible');
    rerender(page(null));
    expect(main?.hasAttribute('aria-hidden')).toBe(false);
    expect(document.documentElement.style.overflow).toBe('');
    expect(document.body.style.overflow).toBe('');
  });

  it('marks the portal, so that toasts avoid it on phones', () => {
    const below = <Modal key="1" name="one" onEscape={null} />;
    const { rerender, container } = render(page(below));
    const isMarked = () => container.hasAttribute('data-modal-open');
    expect(isMarked()).toBe(true);
    rerender(page([below, <Modal key="2" name="two" onEscape={null} />]));
    rerender(page(below));
    expect(isMarked()).toBe(true);
    rerender(page(null));
    expect(isMarked()).toBe(false);
  });

  it('leaves everything to a modal above it until that one closes', async () => {
    const [lower, upper] = [vi.fn(), vi.fn()];
    const below = <Modal key="1" name="one" onEscape={lower} />;
    const { rerender, getByTestId } = render(page(below));
    rerender(page([below, <Modal key="2" name="two" onEscape={upper} />]));
    expect(focused()).toBe('two');
    expect(getByTestId('one-frame').getAttribute('aria-hidden')).toBe('true');
    await userEvent.keyboard('{Escape}');
    expect([lower.mock.calls.length, upper.mock.calls.length]).toEqual([0, 1]);
    rerender(page(below));
    expect(getByTestId('one-frame').hasAttribute('aria-hidden')).toBe(false);
    expect(document.documentElement.style.overflow).toBe('hidden');
    await userEvent.keyboard('{Escape}');
    expect(lower).toHaveBeenCalledTimes(1);
  });

  it('does not close on Escape while it must stay open', async () => {
    render(page(<Modal name="one" onEscape={null} />));
    await userEvent.keyboard('{Escape}');
    expect(focused()).toBe('one');
  });
});

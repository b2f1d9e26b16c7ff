import { act, renderHook, screen, waitFor } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type FakeSite, startFakeSite } from '../../test/fake-site/site.js';
import { closePage, findSwitch, openPage } from '../../test/pages/open-page.js';
import { splitTitle } from './header.js';
import { deviceClass, useDeviceClass } from './shell.js';

let site: FakeSite;
beforeEach(async () => {
  site = await startFakeSite();
});

describe('the shell', () => {
  it('shows title, intro and icon of the page', async () => {
    await openPage(site);
    const title = screen.getByRole('heading', { level: 1 });
    expect(title.textContent).toBe('Security Optimizer - Site Security');
    expect(title.querySelector('span')?.textContent).toBe('Security Optimizer -');
    expect(screen.getByText(/Make the site harder to break into/)).toBeDefined();
    expect(document.querySelector('.so-head__icon svg')?.children.length).toBeGreaterThan(0);
    await findSwitch('Disable XML-RPC');
  });

  it('puts toasts into a portal at the end of the body, and removes it at the end', async () => {
    await openPage(site);
    await findSwitch('Disable XML-RPC');
    expect(document.body.lastElementChild?.className).toBe('so so-portal');
    closePage();
    expect(document.querySelector('.so-portal')).toBeNull();
  });

  it.each(['NO_SUCH_PAGE', ''])('shows the first page for the identifier %j', async (id) => {
    await openPage(site, {}, id);
    expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('Security Optimizer');
  });

  it('adds no landmark inside the main landmark of wp-admin', async () => {
    const container = await openPage(site);
    expect(container.querySelectorAll('main, header')).toHaveLength(2);
    closePage();
    document.body.replaceChildren();
    document.body.setAttribute('role', 'main');
    const inside = await openPage(site);
    expect(inside.querySelectorAll('main, header')).toHaveLength(0);
    document.body.removeAttribute('role');
    await findSwitch('Disable XML-RPC');
  });

  it('sets the device class on its container', async () => {
    const container = await openPage(site);
    await waitFor(() => expect(container.dataset.device).toBe('tablet'));
    await findSwitch('Disable XML-RPC');
  });

  it('uses the language of the locale data', async () => {
    await openPage(site, {
      locale: JSON.stringify({ 'Disable XML-RPC': ['XML-RPC abschalten'], recommended: ['empfohlen'] }),
    });
    await findSwitch('XML-RPC abschalten');
    expect(screen.getByText('empfohlen')).toBeDefined();
  });

  it('is in English if the locale data are invalid', async () => {
    await openPage(site, { locale: '{"Disable XML-RPC": ' });
    await findSwitch('Disable XML-RPC');
  });
});

describe('splitTitle', () => {
  it('splits at the hyphen between product and page', () => {
    expect(splitTitle('Security Optimizer - Post-hack Actions')).toEqual({
      product: 'Security Optimizer',
      page: 'Post-hack Actions',
    });
    expect(splitTitle('Security Optimizer')).toEqual({ product: null, page: 'Security Optimizer' });
  });
});

afterEach(() => {
  vi.useRealTimers();
});

describe('the device class', () => {
  it.each([
    [320, 'phone'],
    [800, 'phone'],
    [801, 'tablet'],
    [1500, 'tablet'],
    [1501, 'desktop'],
  ])('of %d pixels is %s', (width, expected) => {
    expect(deviceClass(width)).toBe(expected);
  });

  it('follows the window once its size has not changed for 300 ms', () => {
    vi.useFakeTimers();
    const resize = (width: number): void => {
      act(() => {
        vi.stubGlobal('innerWidth', width);
        window.dispatchEvent(new Event('resize'));
      });
    };
    const pass = (milliseconds: number): void => {
      act(() => {
        vi.advanceTimersByTime(milliseconds);
      });
    };
    vi.stubGlobal('innerWidth', 1600);
    const { result } = renderHook(() => useDeviceClass());
    expect(result.current).toBe('desktop');
    resize(1000);
    pass(200);
    resize(700);
    pass(299);
    expect(result.current).toBe('desktop');
    pass(1);
    expect(result.current).toBe('phone');
    vi.unstubAllGlobals();
  });
});

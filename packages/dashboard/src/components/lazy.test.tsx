import { fireEvent, render, screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { testServices } from '../../test/test-services.js';
import { readConfig } from '../config/read-config.js';
import { ServicesProvider } from '../services.js';
import { Lazy } from './lazy.js';

const FAILED = /could not be loaded/;
const lost = () => Promise.reject(new Error('no connection'));
const second = () => Promise.resolve({ default: () => <p>the second part</p> });

const services = testServices(readConfig(document.createElement('div'), window.location.href));
const show = (load: Parameters<typeof Lazy>[0]['load']) => (
  <ServicesProvider services={services}>
    <Lazy load={load} props={{}}>
      <p>still loading</p>
    </Lazy>
  </ServicesProvider>
);

describe('a part of a page whose code is fetched when it is first shown', () => {
  it('says so when the code does not come, and asks again on request', async () => {
    let isThere = false;
    const load = () => (isThere ? second() : lost());
    render(show(load));
    expect(screen.getByText('still loading')).toBeTruthy();
    expect(await screen.findByText(FAILED)).toBeTruthy();
    isThere = true;
    fireEvent.click(screen.getByRole('button', { name: 'Try again' }));
    expect(await screen.findByText('the second part')).toBeTruthy();
  });

  it('shows another part although the one before did not come', async () => {
    const { rerender } = render(show(lost));
    await screen.findByText(FAILED);
    rerender(show(second));
    expect(screen.queryByText(FAILED)).toBeNull();
    expect(await screen.findByText('the second part')).toBeTruthy();
  });
});

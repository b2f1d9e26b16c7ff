import { act } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { mount } from './mount.js';

describe('the start of the dashboard', () => {
  it('fetches the options before the code of the page is loaded', async () => {
    const container = document.createElement('div');
    container.dataset.page = 'LOGIN_SETTINGS';
    container.dataset.config = JSON.stringify({ rest_base: 'http://example.com/wp-json/', wp_nonce: 'aaaaaaaaaa' });
    document.body.append(container);
    const steps: string[] = [];
    await act(async () => {
      const mounting = mount(container, {
        address: window.location.href,
        fetch: (input) => {
          steps.push(new URL(String(input)).pathname);
          return new Promise(() => {});
        },
        navigate: () => {},
      });
      mounting.then(() => steps.push('drawn'));
      await mounting;
    });
    expect(steps).toEqual(['/wp-json/security-optimizer/v1/fetch-options', 'drawn']);
  });
});

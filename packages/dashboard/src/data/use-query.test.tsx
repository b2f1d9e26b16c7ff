import { act, render, screen } from '@testing-library/react';
import { afterEach, describe, expect, it } from 'vitest';
import { testServices } from '../../test/test-services.js';
import { readConfig } from '../config/read-config.js';
import { type Services, ServicesProvider } from '../services.js';
import { useQuery } from './use-query.js';
import { useQueryData } from './use-query-data.js';

const settled = () => act(() => new Promise<void>((resolve) => setTimeout(resolve)));
/** What the part showed, drawing by drawing. */
let drawn: string[] = [];
let services: Services;

afterEach(() => document.body.replaceChildren());

function newServices(): Services {
  return testServices(readConfig(document.createElement('div'), window.location.href));
}

interface PartProps {
  readonly name: string;
  readonly fetchName: (name: string) => Promise<string>;
  readonly enabled?: boolean;
  readonly keepPrevious?: boolean;
}

function Part({ name, fetchName, enabled = true, keepPrevious = false }: PartProps) {
  const { data, error } = useQuery<string, Error>({
    queryKey: ['name', name],
    queryFn: () => fetchName(name),
    enabled,
    keepPrevious,
  });
  const text = data ?? error?.message ?? 'waiting';
  drawn.push(text);
  return <p>{text}</p>;
}

function Watcher() {
  return <output>{useQueryData<string>(['name', 'a']) ?? 'unknown'}</output>;
}

function draw(props: PartProps) {
  const element = (next: PartProps) => (
    <ServicesProvider services={services}>
      <Part {...next} />
      <Watcher />
    </ServicesProvider>
  );
  const view = render(element(props));
  return {
    text: () => view.container.querySelector('p')?.textContent,
    redraw: (next: PartProps) => view.rerender(element(next)),
    unmount: view.unmount,
  };
}

describe('useQuery', () => {
  it('draws what was fetched, also where it is only shown', async () => {
    services = newServices();
    const { text } = draw({ name: 'a', fetchName: async (name) => `data of ${name}` });
    expect(text()).toBe('waiting');
    await settled();
    expect(text()).toBe('data of a');
    expect(screen.getByRole('status').textContent).toBe('data of a');
  });

  it('fetches nothing until it is enabled', async () => {
    services = newServices();
    const asked: string[] = [];
    const fetchName = async (name: string) => {
      asked.push(name);
      return name;
    };
    const { redraw, text } = draw({ name: 'a', fetchName, enabled: false });
    await settled();
    expect(asked).toEqual([]);
    redraw({ name: 'a', fetchName, enabled: true });
    await settled();
    expect([asked, text()]).toEqual([['a'], 'a']);
  });

  it.each([
    [true, 'a'],
    [false, 'waiting'],
  ])('with keepPrevious %s shows "%s" until the data of a new key are there', async (keepPrevious, between) => {
    services = newServices();
    const fetchName = async (name: string) => name;
    const { redraw, text } = draw({ name: 'a', fetchName, keepPrevious });
    await settled();
    redraw({ name: 'b', fetchName, keepPrevious });
    expect(text()).toBe(between);
    await settled();
    expect(text()).toBe('b');
  });

  it('does not show an old failure before it tries again', async () => {
    services = newServices();
    const refuse = () => Promise.reject(new Error('no answer'));
    const first = draw({ name: 'a', fetchName: refuse });
    await settled();
    expect(first.text()).toBe('no answer');
    first.unmount();
    drawn = [];
    const second = draw({ name: 'a', fetchName: () => new Promise(() => undefined) });
    expect(second.text()).toBe('waiting');
    expect(drawn).not.toContain('no answer');
  });
});

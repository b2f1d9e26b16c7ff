import { createElement, type ReactNode, useEffect, useState } from 'react';
import { useServices } from '../services.js';
import { bundledIcon, fetchIcon, type IconShapes } from './icon-library.js';

/** Arrows and doors point the other way in right-to-left. */
const DIRECTED = new Set(['arrow-right', 'chevron-left', 'chevron-right', 'logout', 'external']);

export interface IconProps {
  readonly name: string;
  /** 16, 20 or 24 CSS pixels. */
  readonly size?: 16 | 20 | 24;
  readonly stroke?: number;
}

/** A decorative icon of the set; what it means is said in words beside it. */
export function Icon({ name, size = 20, stroke = 1.6 }: IconProps) {
  const { config, fetch } = useServices();
  const bundled = bundledIcon(name);
  const [loaded, setLoaded] = useState<{ name: string; shapes: IconShapes } | null>(null);

  useEffect(() => {
    if (bundled !== null) return;
    let current = true;
    fetchIcon(name, config.assetsPath, fetch).then((shapes) => {
      if (current) setLoaded({ name, shapes });
    });
    return () => {
      current = false;
    };
  }, [name, bundled, config.assetsPath, fetch]);

  const shapes = bundled ?? (loaded?.name === name ? loaded.shapes : []);
  const classes = ['so-icon'];
  if (size !== 20) classes.push(`so-icon--${size}`);
  if (DIRECTED.has(name)) classes.push('so-flip');
  return (
    <svg
      className={classes.join(' ')}
      viewBox="0 0 20 20"
      width={size}
      height={size}
      fill="none"
      stroke="currentColor"
      strokeWidth={stroke}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      {draw(shapes)}
    </svg>
  );
}

function draw(shapes: IconShapes): ReactNode {
  // An icon never changes its shapes, so their place is their key.
  return shapes.map((shape, index) =>
    createElement(shape.tag, { key: index, ...camelCased(shape.attributes) }, draw(shape.children)),
  );
}

function camelCased(attributes: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [
      name.replace(/-(.)/g, (_all, letter: string) => letter.toUpperCase()),
      value,
    ]),
  );
}

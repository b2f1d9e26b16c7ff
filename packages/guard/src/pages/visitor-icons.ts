/** SVG path data of the icons on visitor pages, 20 x 20. */
export const visitorIcons = {
  ban: ['M10 2.5a7.5 7.5 0 1 0 0 15a7.5 7.5 0 1 0 0-15', 'M4.7 4.7l10.6 10.6'],
  lock: ['M6 9h8a2 2 0 0 1 2 2v4a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2v-4a2 2 0 0 1 2-2z', 'M6.8 9V6.2a3.2 3.2 0 0 1 6.4 0V9'],
  unknown: [
    'M10 2.5a7.5 7.5 0 1 0 0 15a7.5 7.5 0 1 0 0-15',
    'M7.8 7.9a2.2 2.2 0 1 1 3.2 2c-.7.4-1 .8-1 1.6',
    'M10 14.1h.01',
  ],
  clock: ['M10 2.5a7.5 7.5 0 1 0 0 15a7.5 7.5 0 1 0 0-15', 'M10 5.8V10l2.8 1.8'],
  timer: ['M10 5.1a6.2 6.2 0 1 0 0 12.4a6.2 6.2 0 1 0 0-12.4', 'M10 8v3.3l2.2 1.5', 'M8 2.5h4'],
  moon: ['M16.6 12.1A7 7 0 1 1 8.1 3.3a5.6 5.6 0 0 0 8.5 8.8z'],
} as const satisfies Record<string, readonly string[]>;

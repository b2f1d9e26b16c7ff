import { bundleIcons } from './bundled-icons.js';

/** The icons of Post-hack Actions come with its page. */
bundleIcons(
  import.meta.glob<string>(['./svg/{rotate,logout,plugin,users,minus,search}.svg'], {
    query: '?raw',
    import: 'default',
    eager: true,
  }),
);

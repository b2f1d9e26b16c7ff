import { bundleIcons } from './bundled-icons.js';

/** The icons of the activity log come with its page: a list of thirty rows should not wait for each of them. */
bundleIcons(
  import.meta.glob<string>(
    ['./svg/{user,users,bot,unknown,globe,filter,search,more,download,ban,unlock,mail,pencil,sliders,eye}.svg'],
    { query: '?raw', import: 'default', eager: true },
  ),
);

/** Text of the icons that the built pages use, by name. All others are fetched when they are needed. */
const files = import.meta.glob<string>(
  [
    './svg/{shield-check,key,site,pulse,lifebuoy}.svg',
    './svg/{folder-lock,eye-off,editor-off,plug,feed,code,file-x}.svg',
    './svg/{link,gate,phone,password,name-tag,timer,moon}.svg',
    './svg/{plus,trash,calendar,clock,arrow-right,chevron-left}.svg',
    './svg/{check,check-circle,alert,error,info,x,circle,refresh,chevron-right,external,star}.svg',
  ],
  { query: '?raw', import: 'default', eager: true },
);

const icons = new Map<string, string>();
bundleIcons(files);

export const bundledIcons: ReadonlyMap<string, string> = icons;

/** Adds the icons that came with a page. @param texts file texts by path, as Vite's glob gives them */
export function bundleIcons(texts: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(texts)) icons.set(path.slice('./svg/'.length, -'.svg'.length), text);
}

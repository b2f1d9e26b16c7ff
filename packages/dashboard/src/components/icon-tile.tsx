import { Icon } from '../icons/icon.js';
import { classes } from './classes.js';

export type TileState = 'off' | 'on' | 'warn' | 'danger' | 'info';

/** Icon on a tile; its colour is the state of the thing beside it. */
export function IconTile({ name, state }: { readonly name: string; readonly state: TileState }) {
  return (
    <span className={classes('so-tile', state !== 'off' && `is-${state}`)}>
      <Icon name={name} />
    </span>
  );
}

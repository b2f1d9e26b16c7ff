import { Icon } from '../icons/icon.js';
import { classes } from './classes.js';

export type TileState = 'off' | 'on' | 'warn' | 'danger' | 'info';

export interface IconTileProps {
  readonly name: string;
  readonly state: TileState;
  /** 48 px, in cards. */
  readonly large?: boolean;
}

/** Icon on a tile; its colour is the state of the thing beside it. */
export function IconTile({ name, state, large = false }: IconTileProps) {
  return (
    <span className={classes('so-tile', state !== 'off' && `is-${state}`, large && 'so-tile--48')}>
      <Icon name={name} />
    </span>
  );
}

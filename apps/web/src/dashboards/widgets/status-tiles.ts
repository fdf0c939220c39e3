import { CloudTile } from './cloud-tile.tsx';
import { BackupTile, MailGatewayTile, VirtualizationTile } from './server-tiles.tsx';

export const statusTiles = {
  'virtualization-status': VirtualizationTile,
  'backup-status': BackupTile,
  'mail-gateway-status': MailGatewayTile,
  'cloud-status': CloudTile,
};

DROP INDEX "ldap_staged_entries_staged";--> statement-breakpoint
ALTER TABLE "users" ALTER COLUMN "directory_id" SET DATA TYPE text collate "C";--> statement-breakpoint
ALTER TABLE "ldap_staged_entries" ALTER COLUMN "directory_id" SET DATA TYPE text collate "C";--> statement-breakpoint
ALTER TABLE "groups" ALTER COLUMN "directory_id" SET DATA TYPE text collate "C";--> statement-breakpoint
CREATE INDEX "ldap_staged_entries_staged" ON "ldap_staged_entries" USING brin ("staged_at");
ALTER TYPE "public"."calendar_error" ADD VALUE 'storageFull';--> statement-breakpoint
ALTER TABLE "calendar_sources" ADD COLUMN "size_bytes" integer;
ALTER TABLE "personal_tender_search" ADD COLUMN "titles" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "tender_search" ADD COLUMN "titles" text DEFAULT '' NOT NULL;
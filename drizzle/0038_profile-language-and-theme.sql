CREATE TYPE "public"."language" AS ENUM('de', 'en');--> statement-breakpoint
CREATE TYPE "public"."theme" AS ENUM('light', 'dark');--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "language" "language";--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "theme" "theme";